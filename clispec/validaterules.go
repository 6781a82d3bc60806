package clispec

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/resettime"
	"github.com/clichain/clichain/internal/spelling"
)

// RuleKinds are the kinds of events that a rule can produce. clichain produces the others.
var RuleKinds = []call.EventKind{
	call.EventSession, call.EventDelta, call.EventText, call.EventThinking, call.EventToolUse, call.EventToolResult,
	call.EventStatus, call.EventCompact, call.EventUsage, call.EventRetry, call.EventLimit, call.EventWarning,
	call.EventError, call.EventResult, call.EventReset,
}

func (v *validator) rules(s *Spec) {
	v.models(s.Models)
	v.pattern("sessions.id", s.Sessions.ID)
	allOf(v, "sessions.cumulative", s.Sessions.Cumulative, Counters...)
	v.login(s)
	v.confine(s.Confine)
	each("guards", s.Guards, v.guard)
	each("preflight", s.Preflight, v.preflight)
	each("events", s.Events, v.eventRule)
	each("lines", s.Lines, v.lineRule)
	v.pattern("text.prompt", s.Text.Prompt)
	v.pattern("text.own", s.Text.Own)
	for _, code := range slices.Sorted(maps.Keys(s.ExitCodes)) {
		if code < 1 || code > 255 {
			v.add("exit_codes", fmt.Sprint(code), "must be 1 to 255")
		}
		v.reason(fmt.Sprintf("exit_codes[%d]", code), s.ExitCodes[code])
	}
	for _, reason := range slices.Sorted(maps.Keys(s.Hints)) {
		v.reason("hints", reason)
	}
}

func (v *validator) models(m ModelRules) {
	each("models.accept", m.Accept, func(path, pattern string) {
		if pattern == "" {
			v.add(path, "", "is empty: omit accept to accept every name")
		}
		v.pattern(path, pattern)
	})
	for _, alias := range slices.Sorted(maps.Keys(m.Aliases)) {
		if alias == "" || m.Aliases[alias] == "" {
			v.add("models.aliases", alias, "has no model: give both names")
		} else if alias == "default" || alias == "unknown" {
			v.add("models.aliases", alias, "lets the CLI choose the model: use another name")
		}
	}
	each("models.list", m.List, v.list)
}

func (v *validator) guard(path string, rule GuardRule) {
	if rule.Pattern == "" {
		v.add(path+".pattern", "", "is missing: say which prompts need the prefix")
	}
	if rule.Prefix == "" {
		v.add(path+".prefix", "", "is missing: give the text to add before the prompt")
	}
	v.text(path+".prefix", rule.Prefix)
	v.pattern(path+".pattern", rule.Pattern)
}

func (v *validator) preflight(path string, rule PreflightRule) {
	v.when(path+".when", rule.When)
	for _, field := range slices.Sorted(maps.Keys(rule.Match)) {
		v.field(path+".match", field)
		v.pattern(path+".match."+field, rule.Match[field])
	}
	each(path+".unless_env", rule.UnlessEnv, v.variable)
	v.reason(path+".reason", rule.Reason)
	if rule.Message == "" {
		v.add(path+".message", "", "is missing: say what the CLI would refuse")
	}
}

func (v *validator) reason(path string, r call.Reason) {
	known := call.Reasons()
	if slices.Contains(known, r) {
		return
	}
	if r == "" {
		v.add(path, "", "is missing; docs/reference/errors.md lists the reasons")
	} else if near := spelling.Near(string(r), texts(known)); near != "" {
		v.add(path, string(r), fmt.Sprintf("is not a reason; did you mean %q?", near))
	} else {
		v.add(path, string(r), "is not a reason; docs/reference/errors.md lists them")
	}
}

func (v *validator) list(path string, r ListRule) {
	each(path+".args", r.Args, v.text)
	switch {
	case len(r.Args) == 0 && r.Live.Method == "":
		v.add(path+".args", "", "is empty: give a command or a live request that returns the list")
	case len(r.Args) > 0 && r.Live.Method != "":
		v.add(path+".live", r.Live.Method, "is set in addition to args: a list has one source")
	case r.Live.Method != "":
		v.liveMessage(path+".live", r.Live)
	}
	for _, field := range slices.Sorted(maps.Keys(r.Set)) {
		v.known(path+".set", field, ModelFields)
		v.jsonPath(path+".set."+field, r.Set[field], "")
	}
	if r.Path == "" && (len(r.Set) > 0 || r.Live.Method != "") {
		v.add(path+".path", "", "is empty: give the path of the list")
	}
	if len(r.Set) > 0 && r.Set["name"] == "" {
		v.add(path+".set.name", "", "is missing: give the path of the name of the model")
	}
}

func (v *validator) eventRule(path string, rule EventRule) {
	if len(rule.Match) == 0 {
		v.add(path+".match", "", "is empty: the rule would match every line")
	}
	for _, key := range slices.Sorted(maps.Keys(rule.Match)) {
		v.jsonPath(path+".match", key, rule.Each)
		v.most(path+".match", key, false)
		v.pattern(path+".match."+key, rule.Match[key])
	}
	v.known(path+".kind", string(rule.Kind), texts(RuleKinds))
	switch {
	case strings.HasPrefix(rule.Each, grammar.ElementPrefix):
		v.add(path+".each", rule.Each, "is the path of the list: it cannot start at an element")
	case rule.Each != "":
		v.jsonPath(path+".each", rule.Each, "")
		v.most(path+".each", rule.Each, false)
	}
	for _, field := range slices.Sorted(maps.Keys(rule.Set)) {
		if !slices.Contains(EventFields, field) {
			v.add(path+".set", field, "is not a field of an event; "+meant(field, EventFields))
		}
		for _, alternative := range grammar.Alternatives(rule.Set[field]) {
			if !strings.HasPrefix(alternative, "=") {
				v.jsonPath(path+".set."+field, alternative, rule.Each)
				v.most(path+".set."+field, alternative, true)
			}
		}
	}
	rule.checkWindow(v, path)
	if rule.Terminal && rule.Kind != call.EventResult && rule.Kind != call.EventError {
		v.add(path+".terminal", string(rule.Kind), "cannot be terminal: only result and error can")
	}
}

func (v *validator) jsonPath(path, key, each string) {
	switch {
	case key == "":
		v.add(path, key, "is not a path: give the path of a value, such as \"error.message\"")
	case strings.HasPrefix(key, grammar.ElementPrefix) && each == "":
		v.add(path, key, "starts at an element, but the rule has no each")
	case strings.Contains(key, "@fromstr"):
		v.add(path, key, "has @fromstr, which parses JSON of unchecked depth: remove it")
	case len(key) > 200:
		v.add(path, key[:40]+"…", "is too long for a path")
	}
}

// lineGroups are the named groups that a LineRule can have.
var lineGroups = []string{"status", "attempt", "message", "reset", "delay", "variable", "session"}

// LineKinds are the kinds that a LineRule can have.
var LineKinds = []call.EventKind{call.EventError, call.EventRetry, call.EventWarning, call.EventStatus}

func (v *validator) lineRule(path string, rule LineRule) {
	v.pattern(path+".pattern", rule.Pattern)
	if re, err := syntax.Parse(rule.Pattern, syntax.Perl); err == nil {
		if matchesEmpty(re) {
			v.add(path+".pattern", rule.Pattern, "matches the empty line, and therefore every line")
		}
		groups := re.CapNames()
		for _, group := range groups {
			if group != "" && !slices.Contains(lineGroups, group) {
				v.add(path+".pattern", group, fmt.Sprintf("is not a known group; use one of %q", lineGroups))
			}
		}
		for _, name := range grammar.TemplateFields(rule.Hint) {
			if !slices.Contains(groups, name) {
				v.add(path+".hint", name, "is not a group of the pattern")
			}
		}
		tells := slices.Contains(groups, "status") || slices.Contains(groups, "message")
		if rule.Reason == "" && !tells && rule.Kind != call.EventWarning && rule.Kind != call.EventStatus {
			v.add(path+".reason", "", "is missing, and the pattern has no group status or message")
		}
	}
	if rule.Reason != "" {
		v.reason(path+".reason", rule.Reason)
	}
	if longest := int(resettime.Longest.Seconds()); rule.CooldownS < 0 || rule.CooldownS > longest {
		v.add(path+".cooldown_s", fmt.Sprint(rule.CooldownS), fmt.Sprintf("must be 0 to %d", longest))
	}
	oneOf(v, path+".kind", rule.Kind, LineKinds...)
	allOf(v, path+".on", rule.On, OnEvent, OnStderr, OnStdout)
}

// knownSystems are the operating systems that a LoginWay can list.
var knownSystems = []string{"darwin", "linux", "windows", "freebsd", "netbsd", "openbsd", "dragonfly"}

// rooted reports whether a path is independent of the working directory, or is looked up in its parent directories
// ("./").
func rooted(path string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(path, prefix) }
	return path == "~" || filepath.IsAbs(path) || slices.ContainsFunc([]string{"/", "~/", "./", "${"}, begins)
}

var payers = []call.Billing{call.BillingSubscription, call.BillingAPIKey}

func (v *validator) login(s *Spec) {
	each("login.ways", s.Login.Ways, func(path string, way LoginWay) {
		v.passed(path+".env", way.Env)
		v.passed(path+".with", way.With)
		each(path+".files", way.Files, v.fact)
		allOf(v, path+".os", way.OS, knownSystems...)
		oneOf(v, path+".billing", way.Billing, payers...)
		if len(way.Env)+len(way.Files)+len(way.OS) == 0 && !way.Unsure {
			v.add(path, "", "is always true: give a condition, or set unsure")
		}
	})
	v.status("login.status", s.Login.Status)
	for _, source := range slices.Sorted(maps.Keys(s.Login.KeySources)) {
		v.pattern("login.key_sources", source)
		v.known("login.key_sources."+source, string(s.Login.KeySources[source]), texts(payers))
	}
	each("trust", s.Trust, v.fact)
}

func (v *validator) fact(path string, fact FileFact) {
	v.text(path+".path", fact.Path)
	if _, err := grammar.ReadPath(fact.Path); err != nil {
		v.add(path+".path", fact.Path, err.Error())
	} else if !rooted(fact.Path) {
		v.add(path+".path", fact.Path, "must start with \"~/\", \"./\", \"${\" or a root")
	}
	v.conditions(path, fact.JSON, fact.Pattern)
	v.pattern(path+".keys", fact.Keys)
	if fact.Expires != "" {
		v.jsonPath(path+".expires", fact.Expires, "")
	}
	if fact.Refresh != "" {
		v.jsonPath(path+".refresh", fact.Refresh, "")
	}
}

// conditions checks the patterns for the values and the text of a file or an output.
func (v *validator) conditions(path string, paths map[string]string, pattern string) {
	for _, key := range slices.Sorted(maps.Keys(paths)) {
		v.jsonPath(path+".json", key, "")
		v.pattern(path+".json."+key, paths[key])
	}
	v.pattern(path+".pattern", pattern)
}

func (v *validator) status(path string, rule StatusRule) {
	each(path+".args", rule.Args, v.text)
	if len(rule.Args) == 0 && len(rule.Signs) > 0 {
		v.add(path+".args", "", "is empty: give the status command")
	}
	each(path+".signs", rule.Signs, func(path string, sign StatusSign) {
		if sign.Exit < 0 || sign.Exit > 255 {
			v.add(path+".exit", fmt.Sprint(sign.Exit), "must be 0 to 255")
		}
		v.conditions(path, sign.JSON, sign.Pattern)
		v.known(path+".login", string(sign.Login), texts([]LoginState{LoginAuthenticated, LoginInstalled}))
		oneOf(v, path+".billing", sign.Billing, payers...)
	})
}
