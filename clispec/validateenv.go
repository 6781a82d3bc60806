package clispec

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/grammar"
)

func (v *validator) variable(path, name string) {
	if !envShape().MatchString(name) {
		v.add(path, name, "is not the name of a variable")
	}
}

func (v *validator) passed(path string, list []string) {
	each(path, list, func(path, entry string) {
		if !passShape().MatchString(entry) {
			v.add(path, entry, "is not the name of a variable or a prefix with a trailing '*'")
		}
	})
}

func (v *validator) passRule(path string, rule PassRule) {
	if len(rule.Pass) == 0 {
		v.add(path+".pass", "", "is empty: list the variables to pass")
	}
	if len(rule.Env)+len(rule.Files)+len(rule.Models) == 0 {
		v.add(path, "", "is never true: give a condition in env, files or models, or use pass_env")
	}
	v.passed(path+".pass", rule.Pass)
	each(path+".env", rule.Env, v.variable)
	each(path+".read", rule.Read, func(path, name string) { confinedPath(v, path, name) })
	each(path+".write", rule.Write, func(path, name string) { confinedPath(v, path, name) })
	each(path+".files", rule.Files, func(path string, fact FileFact) {
		v.fact(path, fact)
		if strings.HasPrefix(fact.Path, "./") {
			v.add(path+".path", fact.Path, "is a file of the working directory, which may be untrusted: use a file of the user")
		}
	})
	each(path+".models", rule.Models, func(path, prefix string) {
		if prefix == "" {
			v.add(path, "", "is empty: every model matches")
		}
	})
}

// setEnv checks the variables that are always set. DropEnv and NestedEnv must not list them.
func (v *validator) setEnv(s *Spec) {
	for _, name := range slices.Sorted(maps.Keys(s.SetEnv)) {
		path, value := "set_env."+name, s.SetEnv[name]
		v.variable(path, name)
		v.text(path, value)
		if _, err := grammar.ReadValue(value); err != nil {
			v.add(path, value, err.Error())
		}
		if grammar.Matches(slices.Concat(s.DropEnv, s.NestedEnv), name) {
			v.add(path, name, "is removed by drop_env or nested_env")
		}
	}
}

func (f ServerFile) check(v *validator, path string) {
	v.fact(path, FileFact{Path: f.Path, Pattern: f.Pattern})
	switch re, err := regexp.Compile(f.Pattern); {
	case (f.JSON == "") == (f.Pattern == ""):
		v.add(path, "", "needs one of json and pattern")
	case f.JSON != "":
		v.jsonPath(path+".json", f.JSON, "")
	case err == nil && !slices.Contains(re.SubexpNames(), "name"):
		v.add(path+".pattern", f.Pattern, "has no group \"name\"")
	}
	v.when(path+".when", f.When)
}
