package clispec

import (
	"maps"
	"slices"

	"github.com/clichain/clichain/internal/grammar"
)

func (v *validator) variable(path, name string) {
	if !envShape().MatchString(name) {
		v.add(path, name, "is no name of a variable")
	}
}

func (v *validator) passed(path string, list []string) {
	each(path, list, func(path, entry string) {
		if !passShape().MatchString(entry) {
			v.add(path, entry, "is no name of a variable, nor a prefix with a final '*'")
		}
	})
}

// setEnv checks the variables that are always set: none of them may be one that is kept from the CLI.
func (v *validator) setEnv(s *Spec) {
	for _, name := range slices.Sorted(maps.Keys(s.SetEnv)) {
		path, value := "set_env."+name, s.SetEnv[name]
		v.variable(path, name)
		v.text(path, value)
		if _, err := grammar.ReadValue(value); err != nil {
			v.add(path, value, err.Error())
		}
		if grammar.Matches(slices.Concat(s.DropEnv, s.NestedEnv), name) {
			v.add(path, name, "is kept from the CLI by drop_env or nested_env")
		}
	}
}
