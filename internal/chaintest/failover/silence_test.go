package failover_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

func TestSilence(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	begin := chaintest.Stdout(`{"type":"thread.started","thread_id":"t"}` + "\n")
	pause := 400 * time.Millisecond
	tests := map[string]struct {
		cfg    clichain.Config
		steps  []clitest.Step
		reason clichain.Reason
	}{
		"no output":         {clichain.Config{FirstOutputTimeout: pause}, []clitest.Step{{Hang: true}}, clichain.ReasonFirstOutputTimeout},
		"output, then none": {clichain.Config{FirstOutputTimeout: time.Minute, IdleTimeout: pause}, []clitest.Step{begin, {Hang: true}}, clichain.ReasonIdleTimeout},
		"never any":         {clichain.Config{IdleTimeout: pause}, []clitest.Step{{Hang: true}}, clichain.ReasonIdleTimeout},
		"stderr counts":     {clichain.Config{FirstOutputTimeout: time.Minute, IdleTimeout: pause}, []clitest.Step{{Stderr: "hm\n"}, {Hang: true}}, clichain.ReasonIdleTimeout},
		"the total wins":    {clichain.Config{IdleTimeout: time.Minute, Timeout: pause}, []clitest.Step{begin, {Hang: true}}, clichain.ReasonTimeout},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := chaintest.Provider(t, specs.Codex(), test.cfg, clitest.Scenario{Steps: test.steps}).Complete(t.Context(), clichain.Prompt("hi"))
			chaintest.RequireReason(t, test.reason, err)
		})
	}
}

// A CLI that prints a little all the time is not idle, however long it takes.
func TestSteadyOutputIsNoSilence(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.InTime(t, 1500*time.Millisecond, func(idle time.Duration) bool {
		slow := clitest.Step{Stderr: strings.Repeat("working\n", 20), Chunk: 8, Every: idle / 15}
		cfg := clichain.Config{Timeout: -1, FirstOutputTimeout: time.Minute, IdleTimeout: idle}
		p := chaintest.Provider(t, specs.Codex(), cfg, chaintest.Play(chaintest.ReadStdin, slow, chaintest.Stdout(chaintest.CodexAnswer("done"))))
		resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		if errors.Is(err, clichain.ErrTimeout) {
			return false
		}
		require.NoError(t, err)
		require.Greater(t, resp.Duration, idle)
		return true
	})
}

// A line above the limit is skipped with a warning. The lines after it count.
func TestALineThatIsTooLong(t *testing.T) {
	clitest.NoLeaks(t)
	long := `{"type":"item.completed","item":{"type":"agent_message","text":"` + strings.Repeat("x", 17<<20) + `"}}` + "\n"
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, clitest.Step{Echo: true}, chaintest.Stdout(chaintest.CodexAnswer("later"))))
	resp, err := p.Complete(t.Context(), clichain.Prompt(long))
	require.NoError(t, err)
	require.Equal(t, "later", resp.Text)
	require.Equal(t, []string{"1 lines of output were too long and were skipped"}, resp.Warnings)
}

// Without a place for its temporary files a call fails with a clear error, and starts nothing.
func TestNoPlaceForTemporaryFiles(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record.json")
	p := chaintest.Provider(t, specs.Gemini(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record}))
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	be := chaintest.RequireReason(t, clichain.ReasonSpawn, err)
	require.Contains(t, be.Message, "temporary file")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoFileExists(t, record)
}
