//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/stretchr/testify/require"
)

// busyClaude installs a claude that waits for a file after each line of its output. The gates are the paths of these
// files.
func busyClaude(t *testing.T, w *world) (gates []string) {
	dir := t.TempDir()
	steps := []clitest.Step{{ReadStdin: true}}
	wait := func() {
		gates = append(gates, filepath.Join(dir, fmt.Sprint(len(gates))))
		steps = append(steps, clitest.Step{Await: gates[len(gates)-1]})
	}
	wait()
	for _, line := range []string{
		`{"type":"system","subtype":"init","session_id":"s1","model":"claude-opus-4-8","apiKeySource":"none"}`,
		`{"type":"stream_event","parent_tool_use_id":null,"event":{"delta":{"type":"thinking_delta","thinking":"hm\u009b2J"}}}`,
		`{"type":"assistant","parent_tool_use_id":null,"message":{"content":[{"type":"tool_use","id":"t1","name":"Bash",` +
			`"input":{"command":"go test ./...\u001b]0;title\u0007 -run 'Test中文' -count=1 -timeout 10m | tee out.txt | tail -20"}}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}`,
		`{"type":"system","subtype":"api_retry","attempt":2,"retry_delay_ms":1,"error_status":529,"error":"overloaded"}`,
	} {
		steps = append(steps, stdout(line)...)
		wait()
	}
	steps = append(steps, answer("claude", "The answer\nhas two lines.")...)
	_, err := clitest.Install(w.bin, "claude", clitest.Scenario{Steps: steps})
	require.NoError(t, err)
	return gates
}

// reported is the text on the screen while claude waits for each of these files.
var reported = []string{"starting", "waits for claude-opus", "thinks", "uses Bash: go test", "waits for the model", "tries again"}

// The status line must fit the terminal, and disappear before the answer.
func TestAskOnTerminal(t *testing.T) {
	colours := regexp.MustCompile(`\x1b\[[0-9]+m`)
	for _, test := range []struct {
		name  string
		width int
		env   []string
		args  []string
		file  bool // the answer goes to a file
	}{
		{name: "60", width: 60},
		{name: "80", width: 80},
		{name: "120", width: 120},
		{name: "trace-60", width: 60, args: []string{"--trace"}},
		{name: "trace-80", width: 80, args: []string{"--trace"}},
		{name: "trace-120", width: 120, args: []string{"--trace"}},
		{name: "at-once", width: 80, args: []string{"--stream=false"}},
		{name: "json", width: 1000, args: []string{"--stream", "--json"}},
		{name: "file", width: 80, file: true},
		{name: "no-colour", width: 80, env: []string{"NO_COLOR=1"}},
		{name: "dumb", width: 80, env: []string{"TERM=dumb"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel() // the tests mostly wait for the screen
			w := newWorld(t)
			gates := busyClaude(t, w)
			w.fake("gemini", "crash", "boom")
			cmd := w.command(append(append([]string{"ask", "--only", "gemini,claude"}, test.args...), "hi")...)
			cmd.Env = append(append(cmd.Env, "TERM=xterm"), test.env...)
			var out bytes.Buffer
			if test.file {
				cmd.Stdout = &out
			}
			s := onScreen(t, cmd, test.width)
			var seen strings.Builder
			for i, g := range gates {
				if test.name != "dumb" { // a dumb terminal has no status line
					fmt.Fprintf(&seen, "--- %s\n%s", reported[i], s.await("claude .*"+short(reported[i], test.name)))
				}
				require.NoError(t, os.WriteFile(g, nil, 0o600))
			}
			text, raw := s.end(0)
			fmt.Fprintf(&seen, "--- the end\n%s", text)
			require.Equal(t, test.env == nil, colours.MatchString(raw), "%q", raw)
			require.Equal(t, test.name != "dumb", strings.Contains(raw, "\x1b"), "%q", raw)
			if test.file {
				require.Equal(t, "The answer\nhas two lines.\n", out.String())
			}
			sameAsGolden(t, filepath.Join("testdata", "terminal", test.name+".txt"), timeless(seen.String()))
		})
	}
}

// Ctrl-C must remove the status line.
func TestInterruptOnTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.fake("claude", "stubborn", "")
	cmd := w.command("ask", "--stream=false", "hi")
	cmd.Env = append(cmd.Env, "TERM=xterm")
	s := onScreen(t, cmd, 80)
	s.await("claude .*answers")
	_, err := s.tty.WriteString("\x03")
	require.NoError(t, err)
	text, _ := s.end(130)
	require.Equal(t, "clichain: ended by a signal: interrupt\n", text)
	require.Empty(t, clitest.Survivors(path))
}

// short returns the part of a text that fits beside a narrow timeline.
func short(text, name string) string {
	if name == "trace-60" {
		return text[:6]
	}
	return text
}

func sameAsGolden(t *testing.T, name, got string) {
	t.Helper()
	if *consoletest.Update {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(got), 0o644))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// The bars must stay in their lines while they grow.
func TestDemoOnTerminal(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			cmd := newWorld(t).command("demo")
			cmd.Env = append(cmd.Env, "TERM=xterm")
			text, raw := onScreen(t, cmd, width).end(0)
			require.Contains(t, raw, "asking")
			require.NotContains(t, text, "asking")
			// The golden file keeps its durations, because the README shows it.
			golden := filepath.Join("testdata", "terminal", fmt.Sprintf("demo-%d.txt", width))
			if *consoletest.Update {
				require.NoError(t, os.WriteFile(golden, []byte(text), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, timeless(string(want)), timeless(text))
		})
	}
}
