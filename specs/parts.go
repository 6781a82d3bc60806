package specs

import (
	"maps"

	"github.com/clichain/clichain"
)

// defaultSystem replaces an agent's own system prompt in a plain completion
// that brings none.
const defaultSystem = "You are a helpful assistant."

const updateHint = "the installed version does not know a flag this spec uses: update it"

// The parts below are funcs so that each spec is a fresh value.

func agentAccess() []clichain.Access {
	return []clichain.Access{clichain.AccessRead, clichain.AccessWrite, clichain.AccessFull}
}

func onStderr() []clichain.Evidence { return []clichain.Evidence{clichain.OnStderr} }

func onAnswer() []clichain.Evidence {
	return []clichain.Evidence{clichain.OnEvent, clichain.OnStdout}
}

func set(field string) clichain.When { return clichain.When{Set: []string{field}} }

// setFor is a field that counts at some access levels only.
func setFor(field string, a ...clichain.Access) clichain.When {
	return clichain.When{Set: []string{field}, Access: a}
}

// unless is an access level's own row where a field does not say otherwise.
func unless(field string, a ...clichain.Access) clichain.When {
	return clichain.When{Unset: []string{field}, Access: a}
}

// bypass refuses a mode without limits to those who did not ask for full
// access.
func bypass(mode string) clichain.PreflightRule {
	return clichain.PreflightRule{
		When:    access(clichain.AccessNone, clichain.AccessRead, clichain.AccessWrite),
		Match:   map[string]string{"permission_mode": mode},
		Reason:  clichain.ReasonPermissionRefused,
		Message: "permission_mode: a mode that bypasses permissions needs access full",
	}
}

// extra is where the caller's raw arguments go.
func extra() clichain.ArgRow { return clichain.ArgRow{Args: []string{"{extra}"}, Each: "extra"} }

// uuid is the shape of most session ids.
const uuid = `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`

const goneHint = "the session is gone: ask without it"

func access(a ...clichain.Access) clichain.When { return clichain.When{Access: a} }

func output(o clichain.OutputMode) clichain.When {
	return clichain.When{Output: []clichain.OutputMode{o}}
}

func stdin() clichain.When {
	return clichain.When{Transport: []clichain.Transport{clichain.TransportStdin}}
}

func argv() clichain.When {
	return clichain.When{Transport: []clichain.Transport{clichain.TransportArgv}}
}

// match makes a map of paths and patterns.
func match(pairs ...string) map[string]string { return with(nil, pairs...) }

// with returns a copy of a map with more pairs.
func with(base map[string]string, pairs ...string) map[string]string {
	m := maps.Clone(base)
	if m == nil {
		m = map[string]string{}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}
