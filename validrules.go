package clichain

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ruleKinds are the events a rule may make; the others are the engine's own.
var ruleKinds = []EventKind{
	EventSession, EventDelta, EventText, EventThinking, EventToolUse, EventToolResult, EventStatus, EventCompact,
	EventUsage, EventRetry, EventLimit, EventWarning, EventError, EventResult,
}

func (v *validator) eventRule(path string, rule EventRule) {
	if len(rule.Match) == 0 {
		v.add(path+".match", "", "is empty: the rule would match every line")
	}
	for _, key := range slices.Sorted(maps.Keys(rule.Match)) {
		v.jsonPath(path+".match", key, rule.Each)
		v.pattern(path+".match."+key, rule.Match[key])
	}
	if !slices.Contains(ruleKinds, rule.Kind) {
		v.add(path+".kind", string(rule.Kind), fmt.Sprintf("is none of %q", ruleKinds))
	}
	for _, field := range slices.Sorted(maps.Keys(rule.Set)) {
		if _, ok := eventSetters[field]; !ok {
			v.add(path+".set", field, fmt.Sprintf("is no field of an event; there are %s", strings.Join(slices.Sorted(maps.Keys(eventSetters)), ", ")))
		}
		for _, alternative := range alternatives(rule.Set[field]) {
			if !strings.HasPrefix(alternative, "=") {
				v.jsonPath(path+".set."+field, alternative, rule.Each)
			}
		}
	}
	if rule.Terminal && rule.Kind != EventResult && rule.Kind != EventError {
		v.add(path+".terminal", string(rule.Kind), "cannot be terminal: only result and error can")
	}
}

func (v *validator) jsonPath(path, key, each string) {
	switch {
	case key == "":
		v.add(path, key, "is no path")
	case strings.HasPrefix(key, elementPrefix) && each == "":
		v.add(path, key, "starts at an element, but the rule has no each")
	case len(key) > 200:
		v.add(path, key[:40]+"…", "is too long for a path")
	}
}

// lineGroups are the named groups that mean something in a LineRule.
var lineGroups = []string{"status", "attempt", "message", "reset", "delay"}

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
		if rule.Reason == "" && !tells && rule.Kind != EventWarning && rule.Kind != EventStatus {
			v.add(path+".reason", "", "is missing, and the pattern has no group status or message to tell it")
		}
	}
	if rule.Reason != "" {
		v.reason(path+".reason", rule.Reason)
	}
	oneOf(v, path+".kind", rule.Kind, EventError, EventRetry, EventWarning, EventStatus)
	for i, on := range rule.On {
		oneOf(v, fmt.Sprintf("%s.on[%d]", path, i), on, OnEvent, OnStderr, OnStdout)
	}
}
