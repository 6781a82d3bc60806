package specs

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/semver"
)

// Lint reads specs as [Load] does and returns all problems. If there are mistakes, Lint returns no specs. Otherwise
// the problems are warnings about valid but probably unintended values. The error is that of the reader.
func Lint(r io.Reader) ([]clispec.Spec, []*Problem, error) {
	f, err := read(r)
	if err != nil {
		return nil, nil, err
	}
	if len(f.problems) > 0 {
		return nil, f.problems, nil
	}
	for i := range f.specs {
		l := &linter{file: f, at: f.roots[i], spec: &f.specs[i]}
		for _, check := range lints {
			check(l)
		}
	}
	f.sort()
	return f.specs, f.problems, nil
}

// linter checks one valid spec for suspicious values.
type linter struct {
	file *file
	at   root
	spec *clispec.Spec
}

var lints = []func(*linter){
	(*linter).conditions, (*linter).templates, (*linter).promptOnce, (*linter).unused,
	(*linter).eventOrder, (*linter).eventValues, (*linter).answers, (*linter).lines, (*linter).hints, (*linter).secrets,
	(*linter).confine,
}

func (l *linter) warn(path, format string, args ...any) {
	l.file.problem(l.at.node.Find(path, ""), l.at.join(path), fmt.Sprintf(format, args...)).Warning = true
}

// conditions finds conditions that are never true.
func (l *linter) conditions() {
	for r := range l.spec.Rows() {
		l.condition(r.Path(), r.When)
	}
	for i, r := range l.spec.Preflight {
		l.condition(fmt.Sprintf("preflight[%d]", i), r.When)
	}
}

func (l *linter) condition(path string, when clispec.When) {
	for i, field := range when.Unset {
		if slices.Contains(when.Set, field) || field == "prompt" {
			l.warn(fmt.Sprintf("%s.when.unset[%d]", path, i), "is never true: %s is set", field)
		}
	}
	modes := l.spec.OutputModes()
	if l.spec.Live.Has() {
		modes = append(slices.Clone(modes), clispec.OutputLive)
	}
	if !meets(when.Output, modes) {
		l.warn(path+".when.output", "is never true: outputs has %q", modes)
	}
	if !meets(when.Transport, l.spec.TransportModes()) {
		l.warn(path+".when.transport", "is never true: transports has %q", l.spec.TransportModes())
	}
	if semver.Less(l.spec.CheckedWith, when.Since) {
		l.warn(path+".when.since", "is not true for the tested version: checked_with is %q", l.spec.CheckedWith)
	}
}

func meets[T comparable](wanted, there []T) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w T) bool { return slices.Contains(there, w) })
}

var (
	placeholder = pattern.Of(`\{[a-z][a-z0-9_]*(:json|:text|:list)?\}`)
	almostOne   = pattern.Of(`\{ *[A-Za-z][A-Za-z0-9_-]* *(: *[A-Za-z]* *)?\}`)
	// A file may contain a program, in which braces with spaces are common.
	almostOneInCode = pattern.Of(`\{[A-Za-z][A-Za-z0-9_-]*(:[A-Za-z]*)?\}`)
)

// templates finds texts that resemble a field.
func (l *linter) templates() {
	for r := range l.spec.Rows() {
		almost := almostOne
		if r.Table == "files" {
			almost = almostOneInCode
		}
		for _, template := range r.Templates {
			for _, text := range almost().FindAllString(template, -1) {
				if !placeholder().MatchString(text) {
					l.warn(r.Path(), "%s is not a field and is passed unchanged: "+
						"fields are {name}, {name:json}, {name:text} and {name:list}, in lower case", text)
				}
			}
		}
		if r.Each != "" && !names(r.Templates, r.Each) {
			l.warn(r.Path()+".each", "repeats the same arguments: none has {%s}", r.Each)
		}
	}
}

// names reports whether one of the templates has the field.
func names(templates []string, field string) bool {
	return slices.ContainsFunc(templates, func(t string) bool {
		return strings.Contains(t, "{"+field+"}") || strings.Contains(t, "{"+field+":")
	})
}

// promptOnce finds rows that pass the prompt as an argument in addition to stdin.
func (l *linter) promptOnce() {
	for i, r := range l.spec.Args {
		stdin := stdin().Transport
		if meets(stdin, l.spec.TransportModes()) && meets(r.When.Transport, stdin) && names(r.Args, "prompt") {
			l.warn(fmt.Sprintf("args[%d]", i),
				"passes the prompt in addition to stdin: add when: {transport: [argv]}")
		}
	}
}

// unused finds fields that have no effect because of another field.
func (l *linter) unused() {
	s := l.spec
	var templates []string
	for r := range l.spec.Rows() {
		templates = append(templates, r.Templates...)
	}
	for i, f := range s.Files {
		// A CLI that gets the directory finds the file by its name.
		if !names(templates, f.Field+"_file") && !names(templates, "temp") {
			l.warn(fmt.Sprintf("files[%d]", i), "is never used: no row has {%s_file} or {temp}", f.Field)
		}
	}
	for i, name := range s.PassEnv {
		if slices.Contains(s.DropEnv, name) {
			l.warn(fmt.Sprintf("pass_env[%d]", i), "is not passed: drop_env lists it too")
		}
	}
	if len(s.Events) > 0 && !l.structured() {
		l.warn("events", "are not used: outputs has neither stream nor json")
	}
}

func (l *linter) structured() bool {
	return slices.ContainsFunc(l.spec.OutputModes(), func(o clispec.OutputMode) bool { return o != clispec.OutputText })
}

// eventOrder finds rules that never apply because an earlier rule has last.
func (l *linter) eventOrder() {
	for i, rule := range l.spec.Events {
		for j, earlier := range l.spec.Events[:i] {
			if earlier.Last && (earlier.Each == "" || earlier.Each == rule.Each) && includes(rule.Match, earlier.Match) {
				l.warn(fmt.Sprintf("events[%d]", i),
					"never applies: events[%d] is last and matches every value that this rule matches", j)
				break
			}
		}
	}
}

// includes reports whether a has all pairs of b.
func includes(a, b map[string]string) bool {
	for key, value := range b {
		if other, ok := a[key]; !ok || other != value {
			return false
		}
	}
	return true
}

// value matches a path that is probably intended as a literal.
var value = pattern.Of(`^(true|false|[0-9.]+)$`)

// eventValues finds alternatives that are never used, and paths that should be literals.
func (l *linter) eventValues() {
	for i, rule := range l.spec.Events {
		for _, field := range slices.Sorted(maps.Keys(rule.Set)) {
			list := strings.Split(rule.Set[field], " ?? ")
			path := fmt.Sprintf("events[%d].set.%s", i, field)
			for j, alternative := range list {
				if j+1 < len(list) && strings.HasPrefix(alternative, "=") {
					l.warn(path, "%q is never reached: %q before it always has a value", list[j+1], alternative)
				}
				if value().MatchString(alternative) {
					l.warn(path, "%q is the path of a field with that name: for the text write \"=%s\"", alternative, alternative)
				}
			}
		}
	}
}

// answers finds event rules with which no run can succeed.
func (l *linter) answers() {
	if !l.structured() {
		return
	}
	has := func(f func(clispec.EventRule) bool) bool { return slices.ContainsFunc(l.spec.Events, f) }
	if !has(func(r clispec.EventRule) bool { return r.Terminal && r.Kind == call.EventResult }) {
		l.warn("events", "no result is terminal, so a stream or json run could never succeed")
	}
	if l.spec.ToolEvents == "" && has(func(r clispec.EventRule) bool { return r.Kind == call.EventToolUse }) {
		l.warn(
			"tool_events",
			"is not set: with write access, every failure counts as if a tool had been used",
		)
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
		readsStderr := meets(rule.On, onStderr())
		if kind != call.EventError && !readsStderr {
			l.warn(path+".on", "never matches: rules of the kind %s read stderr only", kind)
		}
		if rule.Fatal && !readsStderr {
			l.warn(path+".fatal", "has no effect: only a line of stderr can be fatal")
		}
		if !l.structured() && !meets(rule.On, []clispec.Evidence{clispec.OnStderr, clispec.OnStdout}) {
			l.warn(path+".on", "never matches: outputs has neither stream nor json, so there are no events")
		}
		for j, earlier := range l.spec.Lines[:i] {
			same := earlier.Pattern == rule.Pattern && cmp.Or(earlier.Kind, call.EventError) == kind
			if same && earlier.Reason != "" && covers(earlier.On, rule.On) {
				l.warn(path+".pattern", "never applies: lines[%d] has the same pattern", j)
				break
			}
		}
	}
}

// covers reports whether an earlier rule reads all sources that a later one reads.
func covers(earlier, later []clispec.Evidence) bool {
	unread := func(on clispec.Evidence) bool { return !slices.Contains(earlier, on) }
	return len(earlier) == 0 || len(later) > 0 && !slices.ContainsFunc(later, unread)
}

// hints finds missing hints for failures that only the user can fix.
func (l *linter) hints() {
	var missing []string
	for _, reason := range []call.Reason{call.ReasonNotInstalled, call.ReasonUnauthenticated} {
		if l.spec.Hints[reason] == "" {
			missing = append(missing, string(reason))
		}
	}
	if len(missing) > 0 {
		l.warn("hints", "is missing for %s: tell users how to install the CLI and how to log in",
			strings.Join(missing, " and "))
	}
}

// confine finds a spec that does not list the state of its CLI.
func (l *linter) confine() {
	if len(l.spec.Confine.State) == 0 {
		l.warn("confine.state", "is missing, so the kernel does not confine the CLI: "+
			"list the files and directories that it keeps")
	}
}
