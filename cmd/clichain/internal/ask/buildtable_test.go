package ask

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/runs"
	"github.com/stretchr/testify/require"
)

// threeSteps returns steps with all details that a call can have, and with control characters.
func threeSteps() []Step {
	return []Step{
		{Backend: "claude-work", Skip: &console.Skip{
			Reason: "unauthenticated", Message: "not logged in: no credential file, key or other login was found",
			Hint: "run `CLAUDE_CONFIG_DIR=~/.claude-work claude` and log in with /login, or set ANTHROPIC_API_KEY",
		}},
		{Backend: "codex", Command: &runs.Command{
			Path: "/usr/local/bin/codex", Dir: "/home/user/.local/state/clichain/empty/codex", Empty: true, Stdin: 12,
			Args: []string{
				"exec", "--json", "--color", "never", "-c", `web_search="disabled"`, "-c", "model_instructions_file={temp}/system.md",
				"--model", "gpt-5.5", "it's\x1b[2J\nodd", "", "--long=" + strings.Repeat("x", 150),
			},
			Env:   []string{"CODEX_API_KEY", "GIT_TERMINAL_PROMPT", "HOME", "LANG", "NO_COLOR", "PATH", "PWD", "TERM", "XDG_STATE_HOME"},
			Files: []runs.File{{Path: "{temp}/system.md", Size: 28}, {Path: "{temp}/schema.json", Size: 1200}}, Model: "gpt-5.5",
		}},
		{Backend: "plain", Command: &runs.Command{Path: "/opt/plain", Args: []string{"-p", "[prompt of 12 bytes]"}, Dir: "/work", Env: []string{"PATH"}}},
	}
}

func TestBuildTable(t *testing.T) {
	consoletest.Golden(t, "build", func(s console.Style, width int) string { return buildTable(threeSteps(), s, width) },
		"\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[33m", "\x1b[0m")
}

// TestBuildPageFields compares the JSON fields in the documentation with the fields of the output.
func TestBuildPageFields(t *testing.T) {
	example := consoletest.Block(t, "What a call would run", "json")
	var built struct {
		Backends []Step `json:"backends"`
	}
	d := json.NewDecoder(strings.NewReader(example))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&built))
	again, err := json.Marshal(built)
	require.NoError(t, err)
	require.JSONEq(t, example, string(again))
}
