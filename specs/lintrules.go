package specs

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// eventOrder finds rules that another one leaves nothing to.
func (l *linter) eventOrder() {
	for i, rule := range l.spec.Events {
		for j, earlier := range l.spec.Events[:i] {
			if earlier.Last && (earlier.Each == "" || earlier.Each == rule.Each) && includes(rule.Match, earlier.Match) {
				l.warn(fmt.Sprintf("events[%d]", i), "never applies: events[%d] is last, and matches all that this one does", j)
				break
			}
		}
	}
}

// includes reports whether a has all that b has.
func includes(a, b map[string]string) bool {
	for key, value := range b {
		if other, ok := a[key]; !ok || other != value {
			return false
		}
	}
	return true
}

// value is a path that looks like what it is to find.
var value = regexp.MustCompile(`^(true|false|[0-9.]+)$`)

// eventValues finds alternatives that are never reached, and texts that should
// be literals.
func (l *linter) eventValues() {
	for i, rule := range l.spec.Events {
		for _, field := range slices.Sorted(maps.Keys(rule.Set)) {
			list := strings.Split(rule.Set[field], " ?? ")
			path := fmt.Sprintf("events[%d].set.%s", i, field)
			for j, alternative := range list {
				if j+1 < len(list) && strings.HasPrefix(alternative, "=") {
					l.warn(path, "%q is never reached: %q before it always has a value", list[j+1], alternative)
				}
				if value.MatchString(alternative) {
					l.warn(path, "%q is the path of a field with that name: for the text write \"=%s\"", alternative, alternative)
				}
			}
		}
	}
}

// answers finds event rules by which no run could succeed.
func (l *linter) answers() {
	if !l.structured() {
		return
	}
	has := func(f func(clispec.EventRule) bool) bool { return slices.ContainsFunc(l.spec.Events, f) }
	if !has(func(r clispec.EventRule) bool { return r.Terminal && r.Kind == call.EventResult }) {
		l.warn("events", "no result is terminal, so a stream or json run could never succeed")
	}
	gives := []call.EventKind{call.EventDelta, call.EventText, call.EventResult}
	if !has(func(r clispec.EventRule) bool { return r.Set["text"] != "" && slices.Contains(gives, r.Kind) }) {
		l.warn("events", "no delta, text or result sets text, so there is never an answer")
	}
}

// lines finds line rules that never match.
func (l *linter) lines() {
	for i, rule := range l.spec.Lines {
		path := fmt.Sprintf("lines[%d]", i)
		kind := cmp.Or(rule.Kind, call.EventError)
		onStderr := meets(rule.On, []clispec.Evidence{clispec.OnStderr})
		if kind != call.EventError && !onStderr {
			l.warn(path+".on", "never matches: rules of the kind %s read stderr only", kind)
		}
		if rule.Fatal && !onStderr {
			l.warn(path+".fatal", "has no effect: only a line of stderr can be fatal")
		}
		if !l.structured() && !meets(rule.On, []clispec.Evidence{clispec.OnStderr, clispec.OnStdout}) {
			l.warn(path+".on", "never matches: outputs has neither stream nor json, so there are no events")
		}
		for j, earlier := range l.spec.Lines[:i] {
			if earlier.Pattern == rule.Pattern && earlier.Reason != "" && cmp.Or(earlier.Kind, call.EventError) == kind && covers(earlier.On, rule.On) {
				l.warn(path+".pattern", "never decides: lines[%d] has the same one", j)
				break
			}
		}
	}
}

// covers reports whether a rule reads all that another one reads.
func covers(earlier, later []clispec.Evidence) bool {
	return len(earlier) == 0 || len(later) > 0 && !slices.ContainsFunc(later, func(on clispec.Evidence) bool { return !slices.Contains(earlier, on) })
}

// hints finds that a person is left alone with the failures that only a person
// can mend.
func (l *linter) hints() {
	var missing []string
	for _, reason := range []call.Reason{call.ReasonNotInstalled, call.ReasonUnauthenticated} {
		if l.spec.Hints[reason] == "" {
			missing = append(missing, string(reason))
		}
	}
	if len(missing) > 0 {
		l.warn("hints", "there is none for %s: say how to install the CLI, and how to log in", strings.Join(missing, " and "))
	}
}
