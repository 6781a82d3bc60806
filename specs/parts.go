package specs

import (
	"maps"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// defaultSystem replaces an agent's own system prompt in a plain completion
// that brings none.
const defaultSystem = "You are a helpful assistant."

const updateHint = "the installed version does not know a flag this spec uses: update it"

// The parts below are funcs so that each spec is a fresh value.

func agentAccess() []call.Access {
	return []call.Access{call.AccessRead, call.AccessWrite, call.AccessFull}
}

func onStderr() []clispec.Evidence { return []clispec.Evidence{clispec.OnStderr} }

func onAnswer() []clispec.Evidence {
	return []clispec.Evidence{clispec.OnEvent, clispec.OnStdout}
}

func set(field string) clispec.When { return clispec.When{Set: []string{field}} }

// setFor is a field that counts at some access levels only.
func setFor(field string, a ...call.Access) clispec.When {
	return clispec.When{Set: []string{field}, Access: a}
}

// unless is an access level's own row where a field does not say otherwise.
func unless(field string, a ...call.Access) clispec.When {
	return clispec.When{Unset: []string{field}, Access: a}
}

// bypass refuses a mode without limits to those who did not ask for full
// access.
func bypass(mode string) clispec.PreflightRule {
	return clispec.PreflightRule{
		When:    access(call.AccessNone, call.AccessRead, call.AccessWrite),
		Match:   map[string]string{"permission_mode": mode},
		Reason:  call.ReasonPermissionRefused,
		Message: "permission_mode: a mode that bypasses permissions needs access full",
	}
}

// extra is where the caller's raw arguments go.
func extra() clispec.ArgRow { return clispec.ArgRow{Args: []string{"{extra}"}, Each: "extra"} }

// uuid is the shape of most session ids.
const uuid = `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`

const goneHint = "the session is gone: ask without it"

func access(a ...call.Access) clispec.When { return clispec.When{Access: a} }

func output(o clispec.OutputMode) clispec.When {
	return clispec.When{Output: []clispec.OutputMode{o}}
}

func stdin() clispec.When {
	return clispec.When{Transport: []clispec.Transport{clispec.TransportStdin}}
}

func argv() clispec.When {
	return clispec.When{Transport: []clispec.Transport{clispec.TransportArgv}}
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
