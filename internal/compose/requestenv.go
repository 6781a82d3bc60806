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

// obeyedEnv names variables that loaders, runtimes, shells and git obey: whoever sets
// one can make a process run what he likes. A request may come out of a queue, so it
// sets none of them.
var obeyedEnv = []string{
	"CLICHAIN_*", "TERM", "NO_COLOR", "PWD", "LD_*", "DYLD_*", "GCONV_PATH", "GLIBC_TUNABLES", "MALLOC_*", "OPENSSL_*",
	"SSLKEYLOGFILE", "NODE_*", "npm_*", "NPM_*", "BUN_*", "DENO_*", "ELECTRON_*", "PYTHON*", "PERL*", "RUBY*", "JAVA_*",
	"GIT_*", "SSH_*", "IFS", "PS4", "PROMPT_COMMAND", "EDITOR", "VISUAL", "PAGER", "BROWSER",
}

// checkEnv refuses variables that no request may set.
func checkEnv(env map[string]string) *call.Error {
	for _, name := range namesOf(env) {
		field := "env." + name
		switch {
		case !grammar.IsVariable(name):
			return call.Errorf(call.ReasonBadOption, "env", "%q is no name of a variable: use letters, digits and _", name)
		case grammar.Matches(slices.Concat(commonEnv, WindowsEnv, shellEnv, obeyedEnv), name):
			return call.Errorf(call.ReasonBadOption, field, "the system obeys it: set it with Config.Env")
		}
		if problem := plaintext.Problem(env[name]); problem != "" {
			return call.Errorf(call.ReasonBadRequest, field, "%s", problem)
		}
	}
	return nil
}

// ownEnv refuses a variable of the request that means something to this CLI: a
// login, a service, or what its rows rely on.
func ownEnv(spec *clispec.Spec, env map[string]string) *call.Error {
	for _, name := range namesOf(env) {
		if obeys(spec, name) {
			return call.Errorf(call.ReasonUnsupported, "env."+name,
				"it begins like variables that this CLI obeys: choose another name, or set it with Config.Env")
		}
	}
	return nil
}

func obeys(spec *clispec.Spec, name string) bool {
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
	families := make([]string, len(list))
	for i, known := range list {
		families[i] = familyOf(known)
	}
	return slices.Contains(families, familyOf(name))
}

// familyOf is the first word of a variable's name: a spec names a few of those that a
// CLI obeys, and the others begin like them.
func familyOf(name string) string {
	word, _, _ := strings.Cut(name, "_")
	return strings.ToUpper(strings.TrimSuffix(word, "*"))
}
