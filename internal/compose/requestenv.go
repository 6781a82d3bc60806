package compose

import (
	"maps"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/plaintext"
)

// checkEnv returns an error for variables that no configuration can allow.
func checkEnv(env map[string]string) *call.Error {
	for _, name := range namesOf(env) {
		field := "env." + name
		switch {
		case !grammar.IsVariable(name):
			return call.Errorf(call.ReasonBadOption, "env",
				"%q is not the name of an environment variable: use letters, digits and _", name)
		case strings.HasPrefix(strings.ToUpper(name), ownPrefix):
			return call.Errorf(call.ReasonBadOption, field, "clichain reserves the variables that begin with "+ownPrefix)
		}
		if problem := plaintext.Problem(env[name]); problem != "" {
			return call.Errorf(call.ReasonBadRequest, field, "%s", problem)
		}
	}
	return nil
}

// ownPrefix begins the names of the variables by which a run finds its descendants.
const ownPrefix = "CLICHAIN_"

// Obeys returns the name of a variable in env that may choose the login or the service of this CLI, "" if there is
// none.
func Obeys(spec *clispec.Spec, env map[string]string) string {
	if len(env) == 0 {
		return ""
	}
	families := familiesOf(spec)
	for _, name := range namesOf(env) {
		if slices.Contains(families, familyOf(name)) {
			return name
		}
	}
	return ""
}

func familiesOf(spec *clispec.Spec) []string {
	list := slices.Concat(spec.PassEnv, spec.DropEnv, spec.NestedEnv, slices.Collect(maps.Keys(spec.SetEnv)))
	for _, row := range spec.Env {
		list = append(list, row.Name)
	}
	for _, rule := range spec.PassEnvIf {
		list = slices.Concat(list, rule.Pass, rule.Env)
	}
	for _, way := range spec.Login.Ways {
		list = slices.Concat(list, way.Env, way.With)
	}
	for i, known := range list {
		list[i] = familyOf(known)
	}
	return list
}

// familyOf returns the first word of a variable's name. A spec names only some of the variables that its CLI reads; the
// others share their first word.
func familyOf(name string) string {
	word, _, _ := strings.Cut(name, "_")
	return strings.ToUpper(strings.TrimSuffix(word, "*"))
}
