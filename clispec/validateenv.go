package clispec

import (
	"maps"
	"slices"

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
