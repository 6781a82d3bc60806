package specs

import (
	"maps"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// defaultSystem replaces an agent's own system prompt in a plain completion without a system text.
const defaultSystem = "You are a helpful assistant."

const (
	updateHint = "the installed version does not support a flag of this spec: update the CLI"
	goneHint   = "the session no longer exists: send the request without it"
	takenHint  = "a session with that id exists: choose another id, or continue it with Session"
)

// day is a day in seconds.
const day = 24 * 60 * 60

// The parts below are funcs, so that no two specs share a slice or a map.

func agentAccess() []call.Access {
	return []call.Access{call.AccessRead, call.AccessWrite, call.AccessFull}
}

func onStderr() []clispec.Evidence { return []clispec.Evidence{clispec.OnStderr} }

func onAnswer() []clispec.Evidence { return []clispec.Evidence{clispec.OnEvent, clispec.OnStdout} }

func set(field string) clispec.When { return clispec.When{Set: []string{field}} }

func unset(field string) clispec.When { return clispec.When{Unset: []string{field}} }

// setFor is the condition for a field that is used only at some access levels.
func setFor(field string, a ...call.Access) clispec.When {
	return clispec.When{Set: []string{field}, Access: a}
}

// unless is the condition for a default of access levels that a field replaces.
func unless(field string, a ...call.Access) clispec.When {
	return clispec.When{Unset: []string{field}, Access: a}
}

// filled refuses a system text with a variable that the CLI would replace, because the text would no longer be the
// caller's.
func filled(field, names string) clispec.PreflightRule {
	return clispec.PreflightRule{
		Match:   map[string]string{field: `(?s).*\$\{(` + names + `)\}.*`},
		Reason:  call.ReasonUnsupported,
		Message: "system text: it has a ${variable} that this CLI replaces: write it without the braces",
	}
}

// bypass refuses an unrestricted permission mode unless the access is full.
func bypass(mode string) clispec.PreflightRule {
	return clispec.PreflightRule{
		When:    access(call.AccessNone, call.AccessRead, call.AccessWrite),
		Match:   map[string]string{"permission_mode": mode},
		Reason:  call.ReasonPermissionRefused,
		Message: "permission_mode: a mode that bypasses permissions needs access full",
	}
}

// extra is the row for the raw arguments of the caller.
func extra() clispec.ArgRow { return clispec.ArgRow{Args: []string{"{extra}"}, Each: "extra"} }

// uuid is the form of most session IDs.
const uuid = `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`

func access(a ...call.Access) clispec.When { return clispec.When{Access: a} }

func output(modes ...clispec.OutputMode) clispec.When { return clispec.When{Output: modes} }

func transport(t clispec.Transport) clispec.When {
	return clispec.When{Transport: []clispec.Transport{t}}
}

func stdin() clispec.When { return transport(clispec.TransportStdin) }

func argv() clispec.When { return transport(clispec.TransportArgv) }

// pairs returns a map of the given keys and values.
func pairs(list ...string) map[string]string { return with(nil, list...) }

// with returns a copy of a map with more keys and values.
func with(base map[string]string, list ...string) map[string]string {
	m := map[string]string{}
	maps.Copy(m, base)
	for pair := range slices.Chunk(list, 2) {
		m[pair[0]] = pair[1]
	}
	return m
}

// oneRun is a condition for the mode in which one run has one answer.
func oneRun(more ...clispec.When) clispec.When {
	return inModes(more, clispec.OutputStream, clispec.OutputJSON, clispec.OutputText)
}

// liveOnly is a condition for the live mode.
func liveOnly(more ...clispec.When) clispec.When { return inModes(more, clispec.OutputLive) }

func inModes(conditions []clispec.When, modes ...clispec.OutputMode) clispec.When {
	w := clispec.When{}
	if len(conditions) > 0 {
		w = conditions[0]
	}
	w.Output = modes
	return w
}

// traceEnv names the parent of the CLI's spans, for CLIs that read these variables. It sets the state even if it is
// empty, so that the CLI does not inherit the state of another trace. A process that answers many requests gets
// neither, because it belongs to none of them.
func traceEnv() []clispec.EnvRow {
	when := oneRun(set("traceparent"))
	return []clispec.EnvRow{
		{Name: "TRACEPARENT", Value: "{traceparent}", When: when},
		{Name: "TRACESTATE", Value: "{tracestate}", When: when},
	}
}

// quietGit returns the environment variables with which git runs neither the hooks of a repository nor the monitor in
// its configuration. There is no such variable for filters.
func quietGit() []clispec.EnvRow {
	return []clispec.EnvRow{
		{Name: "GIT_CONFIG_COUNT", Value: "2"},
		{Name: "GIT_CONFIG_KEY_0", Value: "core.hooksPath"},
		{Name: "GIT_CONFIG_VALUE_0", Value: "/dev/null"},
		{Name: "GIT_CONFIG_KEY_1", Value: "core.fsmonitor"},
		{Name: "GIT_CONFIG_VALUE_1", Value: "false"},
	}
}
