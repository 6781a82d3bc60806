package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
)

// patience ends a run that hangs. It is far longer than any CLI needs.
const patience = 90 * time.Second

// plain has the arguments of the simplest machine-readable call of each CLI, with the prompt on stdin.
var plain = map[string][]string{
	home.Claude:   {"-p", "--output-format", "stream-json", "--verbose"},
	home.Codex:    {"exec", "--json", "--skip-git-repo-check", "-c", "analytics.enabled=false", "-"},
	home.Gemini:   {"--skip-trust", "-o", "stream-json"},
	home.OpenCode: {"run", "--format", "json"},
}

// protocols are the protocols between each CLI and its model.
var protocols = map[string]loopback.Protocol{
	home.Claude: loopback.Messages, home.Codex: loopback.Responses, home.Gemini: loopback.Gemini, home.OpenCode: loopback.Chat,
}

// finals are texts in the last line of a successful answer.
var finals = map[string]string{
	home.Claude: `"type":"result"`, home.Codex: `"type":"turn.completed"`, home.Gemini: `"type":"result"`, home.OpenCode: `"type":"step_finish"`,
}

// outcome is a finished run of a CLI.
type outcome struct {
	stdout, stderr string
	status         int
}

func run(t *testing.T, h home.Home, stdin string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := h.Command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	require.NoError(t, ctx.Err(), "%s did not end: %s", h.Name, stderr.String())
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return outcome{stdout: stdout.String(), stderr: stderr.String(), status: cmd.ProcessState.ExitCode()}
}

func eachCLI(t *testing.T, test func(t *testing.T, name string)) {
	for _, name := range home.Names() {
		t.Run(name, func(t *testing.T) {
			netns.Require(t)
			test(t, name)
		})
	}
}

func TestEveryCLIAnswersFromLoopback(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		t.Parallel()
		const prompt, answer = "say \"hi\" to 中文 😀\n", "Bonjour 中文 😀 done"
		s := loopback.New(t, loopback.Always(loopback.Text(answer)))
		got := run(t, home.New(t, name, s.URL, home.LoggedIn), prompt, plain[name]...)
		require.Zero(t, got.status, got.stderr)
		lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
		require.Contains(t, lines[len(lines)-1], finals[name])
		for _, word := range strings.Fields(answer) {
			require.Contains(t, got.stdout, word)
		}
		require.Len(t, s.Calls(), 1)
		require.Equal(t, protocols[name], s.Calls()[0].Protocol)
		require.Equal(t, prompt, s.Calls()[0].Prompt())
		require.NotEmpty(t, s.Calls()[0].Tools(), "the request has no tools")
	})
}

func TestEveryCLIFailsWithoutALogin(t *testing.T) {
	long(t)
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		args := plain[name]
		if name == home.OpenCode {
			args = append(slices.Clone(args), "-m", "loop/m1") // without a model opencode waits for the network instead of failing
		}
		s := loopback.New(t, loopback.Always(loopback.Text("never")))
		got := run(t, home.New(t, name, s.URL, home.LoggedOut), "hi", args...)
		require.NotZero(t, got.status)
		require.NotContains(t, got.stdout, "never")
	})
}

func TestClaudeAnswersWithASubscription(t *testing.T) {
	netns.Require(t)
	s := loopback.New(t, nil)
	got := run(t, home.New(t, home.Claude, s.URL, home.Subscribed), "hi", plain[home.Claude]...)
	require.Zero(t, got.status, got.stdout)
	require.Equal(t, "bearer", s.Calls()[0].Auth)
}
