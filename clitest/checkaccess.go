package clitest

import (
	"maps"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/pattern"
)

// knownBypass matches the flags with which CLIs skip all approvals.
var knownBypass = pattern.Of(`^(--?(dangerously-\S*|yolo|full-auto|allow-all\S*|auto-approve\S*|bypass-\S*|` +
	`skip-permissions|trust-all-tools)(=.*)?|.*\b(bypassPermissions|danger-full-access)\b.*|.*"permission":"allow".*)$`)

var levels = []call.Access{call.AccessNone, call.AccessRead, call.AccessWrite, call.AccessFull}

// bypass finds arguments that bypass permissions although the request does not have access full.
func (s *subject) bypass(TB) (found []problem) {
	for _, way := range s.starts() {
		full := s.fullOnly(way)
		for _, access := range levels[:call.AccessFull] {
			found = append(found, s.bypassed(way, access, full)...)
			found = append(found, s.permissionModes(way, access, full)...)
		}
	}
	return first(found)
}

// fullOnly returns the words that access full adds to the highest level below it. The directory is trusted at both
// levels.
func (s *subject) fullOnly(way start) map[string]bool {
	full, err := composed(s.spec, withAccess(call.AccessFull), way, true)
	if err != nil {
		return nil
	}
	lower, words := s.belowFull(way), map[string]bool{}
	for i, arg := range full.Args {
		word := withFlag(full.Args, i)
		if !lower[arg] || word != arg && lower[full.Args[i-1]] && !lower[word] {
			words[word] = true
		}
	}
	for _, word := range besideArgs(s.spec, full) {
		words[word] = words[word] || !lower[word]
	}
	maps.DeleteFunc(words, func(_ string, added bool) bool { return !added })
	return words
}

// belowFull returns the highest access level below full that the spec supports.
func (s *subject) belowFull(way start) map[string]bool {
	for access := call.AccessWrite; access >= call.AccessNone; access-- {
		if inv, err := composed(s.spec, withAccess(access), way, true); err == nil {
			return given(s.spec, inv)
		}
	}
	return nil
}

// bypassed finds words of fullOnly, and known bypass flags, at a lower access level.
func (s *subject) bypassed(way start, access call.Access, full map[string]bool) (found []problem) {
	for _, trust := range []bool{false, true} {
		inv, err := composed(s.spec, withAccess(access), way, trust)
		if err != nil {
			continue
		}
		for _, word := range slices.Sorted(maps.Keys(given(s.spec, inv))) {
			known := knownBypass().MatchString(word) && !strings.HasSuffix(word, "=false")
			if !full[word] && !known {
				continue
			}
			field := blame(s.spec, "args", func(other clispec.Spec) bool {
				inv, err := composed(other, withAccess(access), way, trust)
				return err != nil || given(other, inv)[word]
			})
			found = append(found, problemf(field, "gives %q with access %s%s, which must not bypass permissions: "+
				"add when: {access: [full]} to the row", word, access, way.of()))
		}
	}
	return found
}

// permissionModes finds permission modes that may stand for a bypass and that no rule refuses. It checks options that
// replace the bypass at access full and that lower levels support.
func (s *subject) permissionModes(way start, access call.Access, full map[string]bool) (found []problem) {
	with := func(access call.Access, value string) (*compose.Invocation, *call.Error) {
		req := withAccess(access)
		req.Options.PermissionMode = value
		return composed(s.spec, req, way, true)
	}
	for word := range full { // modes that the spec itself uses at access full
		value := word[strings.LastIndexAny(word, " =")+1:]
		if inv, err := with(access, strings.Trim(value, `"`)); err == nil && given(s.spec, inv)[word] {
			return []problem{problemf("preflight", "has no rule that refuses permission_mode %s with access %s, as it bypasses "+
				"permissions: add one with match: {permission_mode: ...} for the levels below full", value, access)}
		}
	}
	inv, err := with(call.AccessFull, "plan")
	_, lower := with(access, "plan")
	if err != nil || lower != nil || len(full) == 0 || containsAny(given(s.spec, inv), full) {
		return nil
	}
	for _, rule := range s.spec.Preflight {
		if rule.Match["permission_mode"] != "" && (len(rule.When.Access) == 0 || slices.Contains(rule.When.Access, access)) {
			return nil
		}
	}
	return []problem{problemf("preflight", "has no rule for permission_mode with access %s. With access full, that "+
		"option replaces the bypass, so one of its modes is a bypass: refuse that mode with "+
		"match: {permission_mode: ...} for the levels below full", access)}
}

func containsAny(words, of map[string]bool) bool {
	for word := range of {
		if words[word] {
			return true
		}
	}
	return false
}
