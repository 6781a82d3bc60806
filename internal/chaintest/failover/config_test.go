package failover_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// Unreadable output is an answer only if the caller asks for it and the run exited with 0.
func TestRawOutput(t *testing.T) {
	t.Parallel()
	banner := chaintest.Stdout("plain words, no events\n")
	for name, test := range map[string]struct {
		raw    bool
		steps  []clitest.Step
		reason clichain.Reason
	}{
		"not asked for": {false, []clitest.Step{chaintest.ReadStdin, banner}, clichain.ReasonBadOutput},
		"asked for":     {true, []clitest.Step{chaintest.ReadStdin, banner}, ""},
		"a failed run":  {true, []clitest.Step{chaintest.ReadStdin, banner, clitest.Exit(3)}, clichain.ReasonExit},
		"nothing":       {true, []clitest.Step{chaintest.ReadStdin}, clichain.ReasonBadOutput},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			p := chaintest.Provider(t, specs.Codex(), clichain.Config{RawOutput: test.raw}, clitest.Scenario{Steps: test.steps})
			resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			if test.reason != "" {
				chaintest.RequireReason(t, test.reason, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "plain words, no events", resp.Text)
			require.Len(t, resp.Warnings, 1, "it is flagged")
		})
	}
}

// The log has the start and the end of a run, but not its text.
func TestLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{Logger: logger}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("the answer"))))
	_, err := p.Complete(t.Context(), clichain.Prompt("the question"))
	require.NoError(t, err)
	require.Contains(t, log.String(), "cli start")
	require.Contains(t, log.String(), "cli end")
	require.Contains(t, log.String(), "backend=codex")
	require.NotContains(t, log.String(), "the question")
	require.NotContains(t, log.String(), "the answer")
}

// The log has lines that no rule reads, shortened and without secrets.
func TestLoggerGetsWhatIsNotRead(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	lines := []string{`{"type":"news","is":"secret-value-of-a-test"}`, `{"type":"assis`, "Welcome!", `{"type":"news","long":"` + strings.Repeat("x", 5000) + `"}`}
	cfg := clichain.Config{
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Env:    []string{"OPENAI_API_KEY=secret-value-of-a-test"},
	}
	p := chaintest.Provider(t, specs.Codex(), cfg, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(strings.Join(lines, "\n")+"\n"+chaintest.CodexAnswer("yes"))))
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	for _, want := range []string{`why="an unknown event" line="{\"type\":\"news\",\"is\":\"[redacted]\"}"`, `why="broken JSON"`, `why="not JSON" line=Welcome!`} {
		require.Contains(t, log.String(), want)
	}
	require.Equal(t, 4, strings.Count(log.String(), "cli line not read"))
	require.Less(t, log.Len(), 4000)
}

// An attempt ends before the 30 s after which common sandboxes kill a build step.
func TestDefaultTimeout(t *testing.T) {
	t.Parallel()
	require.Equal(t, 25*time.Second, clichain.DefaultTimeout)
	spec := clichain.CliSpec{Name: "mini", Binary: "mini"}
	for _, cfg := range []*clichain.Config{nil, {}} {
		require.Equal(t, 25*time.Second, clichain.NewProvider(spec, cfg).Config().Timeout)
	}
	agent := clichain.NewProvider(spec, &clichain.Config{Agent: true}).Config()
	require.Equal(t, []time.Duration{600 * time.Second, 3 * time.Minute}, []time.Duration{agent.Timeout, agent.IdleTimeout})
	agent = clichain.NewProvider(spec, &clichain.Config{Agent: true, Timeout: -1, IdleTimeout: time.Second}).Config()
	require.Equal(t, []time.Duration{-1, time.Second}, []time.Duration{agent.Timeout, agent.IdleTimeout})
	agent = clichain.NewProvider(spec, &clichain.Config{Agent: true, Timeout: time.Minute}).Config()
	require.Equal(t, time.Minute, agent.Timeout)
	require.Equal(t, -time.Second, clichain.NewProvider(spec, &clichain.Config{Timeout: -time.Second}).Config().Timeout)
}
