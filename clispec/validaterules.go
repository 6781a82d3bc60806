package clispec

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/spelling"
)

// RuleKinds are the events a rule may make; the others are the engine's own.
var RuleKinds = []call.EventKind{
	call.EventSession, call.EventDelta, call.EventText, call.EventThinking, call.EventToolUse, call.EventToolResult, call.EventStatus, call.EventCompact,
	call.EventUsage, call.EventRetry, call.EventLimit, call.EventWarning, call.EventError, call.EventResult,
}

func (v *validator) rules(s *Spec) {
	v.models(s.Models)
	v.pattern("sessions.id", s.Sessions.ID)
	for i, name := range s.Sessions.Cumulative {
		v.known(fmt.Sprintf("sessions.cumulative[%d]", i), name, Counters)
	}
	v.login(s)
	for i, rule := range s.Guards {
		v.guard(fmt.Sprintf("guards[%d]", i), rule)
	}
	for i, rule := range s.Preflight {
		v.preflight(fmt.Sprintf("preflight[%d]", i), rule)
	}
	for i, rule := range s.Events {
		v.eventRule(fmt.Sprintf("events[%d]", i), rule)
	}
	for i, rule := range s.Lines {
		v.lineRule(fmt.Sprintf("lines[%d]", i), rule)
	}
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
	for i, pattern := range m.Accept {
		path := fmt.Sprintf("models.accept[%d]", i)
		if pattern == "" {
			v.add(path, "", "is empty: to take every name, leave accept out")
		}
		v.pattern(path, pattern)
	}
	for _, alias := range slices.Sorted(maps.Keys(m.Aliases)) {
		if alias == "" || m.Aliases[alias] == "" {
			v.add("models.aliases", alias, "stands for no model: give both names")
		}
	}
	for i, arg := range m.List.Args {
		v.text(fmt.Sprintf("models.list.args[%d]", i), arg)
	}
	if m.List.Path != "" && len(m.List.Args) == 0 {
		v.add("models.list.args", "", "is empty: say which command prints the list")
	}
}

func (v *validator) guard(path string, rule GuardRule) {
	if rule.Pattern == "" {
		v.add(path+".pattern", "", "is missing: say which prompts need the prefix")
	}
	if rule.Prefix == "" {
		v.add(path+".prefix", "", "is missing: say what to put in front of such a prompt")
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
	for i, name := range rule.UnlessEnv {
		v.variable(fmt.Sprintf("%s.unless_env[%d]", path, i), name)
	}
	v.reason(path+".reason", rule.Reason)
	if rule.Message == "" {
		v.add(path+".message", "", "is missing: say what the CLI would refuse")
	}
}

func (v *validator) reason(path string, r call.Reason) {
	if slices.Contains(call.Reasons(), r) {
		return
	}
	problem := "is no reason; docs/errors.md lists them"
	if near := spelling.Near(string(r), texts(call.Reasons())); near != "" {
		problem = fmt.Sprintf("is no reason; did you mean %q?", near)
	}
	if r == "" {
		problem = "is missing; docs/errors.md lists the reasons"
	}
	v.add(path, string(r), problem)
}

func (v *validator) pattern(path, pattern string) {
	if _, err := regexp.Compile(pattern); err != nil {
		v.add(path, pattern, "is no regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
}

func (v *validator) eventRule(path string, rule EventRule) {
	if len(rule.Match) == 0 {
		v.add(path+".match", "", "is empty: the rule would match every line")
	}
	for _, key := range slices.Sorted(maps.Keys(rule.Match)) {
		v.jsonPath(path+".match", key, rule.Each)
		v.pattern(path+".match."+key, rule.Match[key])
	}
	v.known(path+".kind", string(rule.Kind), texts(RuleKinds))
	switch {
	case strings.HasPrefix(rule.Each, grammar.ElementPrefix):
		v.add(path+".each", rule.Each, "is the list itself: it cannot start at an element")
	case rule.Each != "":
		v.jsonPath(path+".each", rule.Each, "")
	}
	for _, field := range slices.Sorted(maps.Keys(rule.Set)) {
		if !slices.Contains(EventFields, field) {
			v.add(path+".set", field, "is no field of an event; "+meant(field, EventFields))
		}
		for _, alternative := range grammar.Alternatives(rule.Set[field]) {
			if !strings.HasPrefix(alternative, "=") {
				v.jsonPath(path+".set."+field, alternative, rule.Each)
			}
		}
	}
	if rule.Terminal && rule.Kind != call.EventResult && rule.Kind != call.EventError {
		v.add(path+".terminal", string(rule.Kind), "cannot be terminal: only result and error can")
	}
}

func (v *validator) jsonPath(path, key, each string) {
	switch {
	case key == "":
		v.add(path, key, "is no path: name the value, such as \"error.message\"")
	case strings.HasPrefix(key, grammar.ElementPrefix) && each == "":
		v.add(path, key, "starts at an element, but the rule has no each")
	case strings.Contains(key, "@fromstr"):
		v.add(path, key, "reads JSON out of a text, whose nesting nobody has checked: leave @fromstr out")
	case len(key) > 200:
		v.add(path, key[:40]+"…", "is too long for a path")
	}
}

// lineGroups are the named groups that mean something in a LineRule.
var lineGroups = []string{"status", "attempt", "message", "reset", "delay"}

// LineKinds are the events a line may be.
var LineKinds = []call.EventKind{call.EventError, call.EventRetry, call.EventWarning, call.EventStatus}

func (v *validator) lineRule(path string, rule LineRule) {
	v.pattern(path+".pattern", rule.Pattern)
	if re, err := regexp.Compile(rule.Pattern); err == nil {
		if re.MatchString("") {
			v.add(path+".pattern", rule.Pattern, "matches the empty line, and so every line")
		}
		for _, group := range re.SubexpNames() {
			if group != "" && !slices.Contains(lineGroups, group) {
				v.add(path+".pattern", group, fmt.Sprintf("is no group with a meaning; there are %q", lineGroups))
			}
		}
		tells := slices.Contains(re.SubexpNames(), "status") || slices.Contains(re.SubexpNames(), "message")
		if rule.Reason == "" && !tells && rule.Kind != call.EventWarning && rule.Kind != call.EventStatus {
			v.add(path+".reason", "", "is missing, and the pattern has no group status or message to tell it")
		}
	}
	if rule.Reason != "" {
		v.reason(path+".reason", rule.Reason)
	}
	oneOf(v, path+".kind", rule.Kind, LineKinds...)
	allOf(v, path+".on", rule.On, OnEvent, OnStderr, OnStdout)
}
