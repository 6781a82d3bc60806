package clispec

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/grammar"
)

// knownSystems are the systems that a way in may be bound to.
var knownSystems = []string{"darwin", "linux", "windows", "freebsd", "netbsd", "openbsd", "dragonfly"}

// rootedShape is how a path begins that does not depend on chance.
var rootedShape = regexp.MustCompile(`^(/|~/|\./|\$\{|~$)`)

var payers = []call.Billing{call.BillingSubscription, call.BillingAPIKey}

func (v *validator) login(s *Spec) {
	for i, way := range s.Login.Ways {
		path := fmt.Sprintf("login.ways[%d]", i)
		v.passed(path+".env", way.Env)
		v.passed(path+".with", way.With)
		for j, fact := range way.Files {
			v.fact(fmt.Sprintf("%s.files[%d]", path, j), fact)
		}
		allOf(v, path+".os", way.OS, knownSystems...)
		oneOf(v, path+".billing", way.Billing, payers...)
		if len(way.Env)+len(way.Files)+len(way.OS) == 0 && !way.Unsure {
			v.add(path, "", "always holds: say what is to be seen, or that it is unsure")
		}
	}
	v.status("login.status", s.Login.Status)
	for _, source := range slices.Sorted(maps.Keys(s.Login.KeySources)) {
		v.pattern("login.key_sources", source)
		v.known("login.key_sources."+source, string(s.Login.KeySources[source]), texts(payers))
	}
	for i, fact := range s.Trust {
		v.fact(fmt.Sprintf("trust[%d]", i), fact)
	}
}

func (v *validator) fact(path string, fact FileFact) {
	v.text(path+".path", fact.Path)
	if _, err := grammar.ReadPath(fact.Path); err != nil {
		v.add(path+".path", fact.Path, err.Error())
	} else if !rootedShape.MatchString(fact.Path) && !filepath.IsAbs(fact.Path) {
		v.add(path+".path", fact.Path, "must begin with \"~/\", \"./\", \"${\" or a root")
	}
	v.conditions(path, fact.JSON, fact.Pattern)
	if fact.Expires != "" {
		v.jsonPath(path+".expires", fact.Expires, "")
	}
	if fact.Refresh != "" {
		v.jsonPath(path+".refresh", fact.Refresh, "")
	}
}

// conditions checks what a text must hold.
func (v *validator) conditions(path string, paths map[string]string, pattern string) {
	for _, key := range slices.Sorted(maps.Keys(paths)) {
		v.jsonPath(path+".json", key, "")
		v.pattern(path+".json."+key, paths[key])
	}
	v.pattern(path+".pattern", pattern)
}

func (v *validator) status(path string, rule StatusRule) {
	for i, arg := range rule.Args {
		v.text(fmt.Sprintf("%s.args[%d]", path, i), arg)
	}
	if len(rule.Args) == 0 && len(rule.Signs) > 0 {
		v.add(path+".args", "", "is empty: say which command tells")
	}
	for i, sign := range rule.Signs {
		at := fmt.Sprintf("%s.signs[%d]", path, i)
		if sign.Exit < 0 || sign.Exit > 255 {
			v.add(at+".exit", fmt.Sprint(sign.Exit), "must be 0 to 255")
		}
		v.conditions(at, sign.JSON, sign.Pattern)
		v.known(at+".login", string(sign.Login), texts([]LoginState{LoginAuthenticated, LoginInstalled}))
		oneOf(v, at+".billing", sign.Billing, payers...)
	}
}
