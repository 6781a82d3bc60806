package bench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
)

// contender is a way to call the CLIs from a program or a script.
type contender struct {
	name string
	pkg  string // npm package; empty: none
	how  string // how the benchmark uses it
	// open prepares the contender to call one CLI in one home.
	open func(t *testing.T, pkg string, s target) func(job) outcome
	// inside is set if the contender runs in this process.
	inside func(target, job) outcome
}

// The names of the contenders, in the order of the tables.
const (
	clichainName = "clichain"
	execName     = "os/exec" // the base of the ratios
	xargsName    = "xargs -P"
	agentSDKName = "claude-agent-sdk"
	codexSDKName = "codex-sdk"
	aiSDKName    = "ai-sdk-provider-claude-code"
	acpxName     = "acpx"
)

var contenders = []contender{
	{
		name: clichainName, inside: byLibrary,
		how: "the library: `Provider.Complete` or `Stream` with only `Timeout` set, `live.NewPool` for warm calls, and " +
			"`ChainOf` for a second CLI",
	},
	{
		name: execName, inside: byExec,
		how: "a Go program with `exec.CommandContext` and `Output`: `claude -p PROMPT`, `codex exec " +
			"--skip-git-repo-check PROMPT`. To stream the text, it uses the flags for JSON lines",
	},
	{
		name: xargsName, open: outside(byXargs),
		how: "`xargs -P N -I{} claude -p {}`, with `timeout` before the command if the row has a timeout",
	},
	{
		name: agentSDKName, pkg: "@anthropic-ai/claude-agent-sdk", open: byLibraryOfNpm(agentSDKName),
		how: "`query()` with `includePartialMessages`. Warm calls: one `query()` with streaming input, which is one " +
			"conversation. `pathToClaudeCodeExecutable` is the same claude",
	},
	{
		name: codexSDKName, pkg: "@openai/codex-sdk", open: byLibraryOfNpm(codexSDKName),
		how: "`startThread().runStreamed()`. Warm calls: one thread. `codexPathOverride` is the same codex, not the " +
			"bundled version 0.163.0",
	},
	{
		name: aiSDKName, pkg: aiSDKName, open: byLibraryOfNpm(aiSDKName),
		how: "`streamText()` of `ai` with `claudeCode('sonnet')`. `pathToClaudeCodeExecutable` is the same claude",
	},
	{
		name: acpxName, pkg: acpxName, open: byAcpx,
		how: "`acpx --agent claude-agent-acp exec PROMPT`. Warm calls: a session. `CLAUDE_CODE_EXECUTABLE` is the same " +
			"claude. If the row needs tools, the settings of claude allow all of them",
	},
}

func outside(ask func(target, job) outcome) func(*testing.T, string, target) func(job) outcome {
	return func(_ *testing.T, _ string, s target) func(job) outcome {
		return func(j job) outcome { return ask(s, j) }
	}
}

// start prepares a contender to call one CLI. With apart, each job runs in a new process.
func (c contender) start(t *testing.T, s target, apart bool) func(job) outcome {
	t.Helper()
	switch {
	case c.inside == nil:
		return c.open(t, c.pkg, s)
	case apart:
		return func(j job) outcome { return inNewProcess(t, caller{c.name, s, j}) }
	}
	return func(j job) outcome { return c.inside(s, j) }
}

// version returns the version of the contender's package, and "" if it has none.
func (c contender) version(t *testing.T) string {
	t.Helper()
	if c.pkg == "" {
		return ""
	}
	modules, _ := home.Peer(t, c.pkg)
	text, err := os.ReadFile(filepath.Join(modules, c.pkg, "package.json"))
	require.NoError(t, err)
	var p struct{ Version string }
	require.NoError(t, json.Unmarshal(text, &p))
	return p.Version
}
