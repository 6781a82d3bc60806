package clispec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/grammar"
)

// check reports the mistakes in the rules.
func (r *QuotaRules) check(v *validator, live bool) {
	each("quota.windows", r.Windows, func(path string, row WindowRow) {
		if row.Name == "" {
			v.add(path+".name", "", "is missing: give the name of the window")
		}
		v.pattern(path+".name", row.Name)
		v.pattern(path+".models", row.Models)
		if row.Minutes < 0 {
			v.add(path+".minutes", fmt.Sprint(row.Minutes), "is negative: use 0 if the length is unknown")
		}
	})
	switch ask := r.Ask; {
	case ask.Method == "":
	case !live:
		v.add("quota.ask", ask.Method, "needs a live mode")
	case ask.Notice:
		v.add("quota.ask.notice", "true", "is invalid: a notice has no response")
	default:
		v.liveMessage("quota.ask", ask)
	}
	if r.File == "" {
		return
	}
	if !strings.Contains(r.File, "{session}") {
		v.add("quota.file", r.File, "does not contain {session}, the id of the session")
	}
	v.text("quota.file", r.File)
	for name := range strings.SplitSeq(r.File, "/") {
		if strings.Count(name, "*") > 1 {
			v.add("quota.file", name, "has several \"*\": a name can have one")
		}
	}
	if _, err := grammar.ReadPath(r.File); err != nil {
		v.add("quota.file", r.File, err.Error())
	} else if !rooted(r.File) {
		v.add("quota.file", r.File, "must start with \"~/\", \"${\" or a root")
	}
}

// checkWindow reports mistakes in the fields of a usage window.
func (rule *EventRule) checkWindow(v *validator, path string) {
	sets := func(field string) bool { return rule.Set[field] != "" }
	switch {
	case !slices.ContainsFunc(WindowFields, sets):
	case !sets("window"):
		v.add(path+".set.window", "", "is missing: give the name of the window")
	case rule.Kind != call.EventLimit:
		v.add(path+".set.window", rule.Set["window"], "is only a field of events of the kind limit")
	}
}
