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
	open func(t *testing.T, pkg string, s seat) func(job) outcome
	// inside is set if the contender runs in this process.
	inside func(seat, job) outcome
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
		how: "the library: `Provider.Complete` or `Stream` with the defaults but for `Timeout`, `live.NewPool` for warm " +
			"calls, `ChainOf` where a second CLI is to answer",
	},
	{
		name: execName, inside: byExec,
		how: "a Go program with `exec.CommandContext` and `Output`: `claude -p PROMPT`, `codex exec --skip-git-repo-check " +
			"PROMPT`; where text is " +
			"to be seen early, the flags for lines of JSON, read line by line",
	},
	{
		name: xargsName, open: outside(byXargs),
		how: "`xargs -P N -I{} claude -p {}`, with `timeout` in front where there is one",
	},
	{
		name: agentSDKName, pkg: "@anthropic-ai/claude-agent-sdk", open: byLibraryOfNpm(agentSDKName),
		how: "`query()` with `includePartialMessages`; warm: one `query()` with streaming input, so one conversation. " +
			"`pathToClaudeCodeExecutable` is the same claude",
	},
	{
		name: codexSDKName, pkg: "@openai/codex-sdk", open: byLibraryOfNpm(codexSDKName),
		how: "`startThread().runStreamed()`; warm: one thread. `codexPathOverride` is the same codex; it brings 0.163.0",
	},
	{
		name: aiSDKName, pkg: aiSDKName, open: byLibraryOfNpm(aiSDKName),
		how: "`streamText()` of `ai` with `claudeCode('sonnet')`. `pathToClaudeCodeExecutable` is the same claude",
	},
	{
		name: acpxName, pkg: acpxName, open: byAcpx,
		how: "`acpx --agent claude-agent-acp exec PROMPT`; warm: a session. `CLAUDE_CODE_EXECUTABLE` is the same claude, " +
			"whose own settings allow it all tools where the row needs them",
	},
}

func outside(ask func(seat, job) outcome) func(*testing.T, string, seat) func(job) outcome {
	return func(_ *testing.T, _ string, s seat) func(job) outcome {
		return func(j job) outcome { return ask(s, j) }
	}
}

// start prepares a contender to call one CLI. With apart, each job runs in a new process.
func (c contender) start(t *testing.T, s seat, apart bool) func(job) outcome {
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
