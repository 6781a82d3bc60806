package failover_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/runs"
	"github.com/clichain/clichain/specs"
)

// longPrompt is larger than a pipe, so that a part of it waits until the CLI reads.
var longPrompt = strings.Repeat("a line of a long prompt\n", 10_000)

// lateReader is a CLI that prints something, ignores SIGINT, reads its input only after its child has received a
// SIGINT, and answers what it has read. It records its input if it has reached the end of it.
func lateReader(record string, says clitest.Step) clitest.Scenario {
	child := []clitest.Step{{ExitOn: map[string]int{"INT": 0}}, says, {Hang: true}}
	return chaintest.Play(clitest.Step{Ignore: []string{"INT"}},
		clitest.Step{Spawn: &clitest.Spawn{HoldStdout: true, Wait: true, Steps: child}},
		clitest.Step{Record: record}, chaintest.Stdout(blockLine("done")+"\n"+chaintest.ResultLine("done")+"\n"))
}

// If clichain ends a run before the CLI has read its prompt, there is no answer, and the CLI does not take the part
// for the whole prompt.
func TestHalfAPromptIsNotAnswered(t *testing.T) {
	t.Parallel()
	said := chaintest.Stdout(chaintest.Init1 + "\n")
	short := 200 * time.Millisecond
	for name, test := range map[string]struct {
		cfg    clichain.Config
		says   clitest.Step
		cancel bool
		want   clichain.Reason
	}{
		"cancel":             {cfg: clichain.Config{}, says: said, cancel: true, want: clichain.ReasonCanceled},
		"timeout":            {cfg: clichain.Config{Timeout: short}, says: said, want: clichain.ReasonTimeout},
		"idle timeout":       {cfg: clichain.Config{IdleTimeout: short}, says: said, want: clichain.ReasonIdleTimeout},
		"no output in time":  {cfg: clichain.Config{FirstOutputTimeout: short}, says: clitest.Step{Sleep: short}, want: clichain.ReasonFirstOutputTimeout},
		"too much output":    {cfg: clichain.Config{MaxOutput: 1 << 10}, says: clitest.Step{FloodStdout: 2 << 10}, want: clichain.ReasonOutputLimit},
		"stopped by its key": {cfg: clichain.Config{Registry: new(runs.Registry)}, says: said, cancel: true, want: clichain.ReasonCanceled},
	} {
		for size, prompt := range map[string]string{"a long prompt": longPrompt, "a short prompt": "hi"} {
			t.Run(name+", "+size, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				p := chaintest.Provider(t, specs.Claude(), test.cfg, lateReader(dir, test.says))
				ctx, cancel := context.WithCancel(runs.WithKey(t.Context(), name, ""))
				defer cancel()
				stop := cancel
				if test.cfg.Registry != nil {
					stop = func() { go test.cfg.Registry.KillAll(name) }
				}
				var err error
				for e, failed := range p.Stream(ctx, clichain.Prompt(prompt)) {
					if err = failed; test.cancel && e.Kind == clichain.EventSession {
						stop()
					}
				}
				chaintest.RequireReason(t, test.want, err)
				requireWhole(t, dir, prompt)
			})
		}
	}
}

// requireWhole asserts that every CLI that reached the end of its input got the whole prompt, and returns their
// number.
func requireWhole(t *testing.T, dir, prompt string) (ended int) {
	t.Helper()
	records, err := fake.ReadRecords(dir)
	require.NoError(t, err)
	for _, r := range records {
		require.True(t, prompt == string(r.Stdin), "%d of %d bytes, and the end of input", len(r.Stdin), len(prompt))
	}
	return len(records)
}

// A chain asks the next backend if the first one was ended before it had read its prompt.
func TestChainAfterHalfAPrompt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg  clichain.Config
		says clitest.Step
		want clichain.Reason
	}{
		"timeout":        {clichain.Config{Timeout: 200 * time.Millisecond}, chaintest.Stdout(chaintest.Init1 + "\n"), clichain.ReasonTimeout},
		"early failover": {clichain.Config{Timeout: time.Minute}, chaintest.Stdout(chaintest.Retry429), clichain.ReasonRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := chaintest.Provider(t, specs.Claude(), test.cfg, lateReader(dir, test.says))
			chain := clichain.ChainOf([]clichain.Backend{first, &chaintest.Backend{ID: "next"}}, nil)
			resp, err := chain.Complete(t.Context(), clichain.Prompt(longPrompt))
			require.NoError(t, err)
			require.Equal(t, "next", resp.Backend)
			require.Len(t, resp.Attempts, 1)
			require.Equal(t, test.want, resp.Attempts[0].Reason, "%v", resp.Attempts[0].Err)
			requireWhole(t, dir, longPrompt)
		})
	}
}

// A CLI that answers after reading a part of its prompt has answered another question. If it has read nothing at all,
// the answer has a warning.
func TestAnswerWithoutThePrompt(t *testing.T) {
	t.Parallel()
	answer := chaintest.Stdout(blockLine("done") + "\n" + chaintest.ResultLine("done") + "\n")
	for name, test := range map[string]struct {
		output  clispec.OutputMode
		steps   []clitest.Step
		answers bool
	}{
		"reads a line":               {clispec.OutputStream, []clitest.Step{{ReadLine: true}, answer}, false},
		"reads a line, and lingers":  {clispec.OutputStream, []clitest.Step{{ReadLine: true}, answer, {Hang: true}}, false},
		"never reads":                {clispec.OutputStream, []clitest.Step{answer}, true},
		"closes its input":           {clispec.OutputStream, []clitest.Step{{CloseStdin: true}, answer}, true},
		"never reads, and lingers":   {clispec.OutputStream, []clitest.Step{answer, {Hang: true}}, true},
		"never reads, in JSON":       {clispec.OutputJSON, []clitest.Step{chaintest.Stdout(chaintest.ResultLine("done"))}, true},
		"never reads, in plain text": {clispec.OutputText, []clitest.Step{chaintest.Stdout("done")}, true},
	} {
		for size, prompt := range map[string]string{"a long prompt": longPrompt, "two buffers": longPrompt[:8<<10]} {
			t.Run(name+", "+size, func(t *testing.T) {
				t.Parallel()
				p := chaintest.Provider(t, specs.Claude(), clichain.Config{Output: test.output, Timeout: time.Minute}, chaintest.Play(test.steps...))
				resp, err := p.Complete(t.Context(), clichain.Prompt(prompt))
				if test.answers {
					require.NoError(t, err)
					require.Equal(t, "done", resp.Text)
					require.Contains(t, resp.Warnings, "the CLI answered without reading standard input, which contained the prompt")
					return
				}
				failed := chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
				require.Contains(t, failed.Message, "read")
			})
		}
	}
}

// TestHalfPromptsOnABusyMachine ends calls at random moments. Every answer belongs to the whole prompt.
func TestHalfPromptsOnABusyMachine(t *testing.T) {
	clitest.Busy(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for size, prompt := range map[string]string{"long": longPrompt, "short": "hi"} {
		dir := t.TempDir()
		steps := chaintest.Play(clitest.Step{Ignore: []string{"INT"}}, clitest.Step{Record: dir}, chaintest.Stdout(chaintest.ResultLine("done")+"\n"))
		p := chaintest.Provider(t, specs.Claude(), clichain.Config{Timeout: time.Minute}, steps)
		var answers, left atomic.Int64
		left.Store(int64(chaintest.Often(250, 12)))
		var workers sync.WaitGroup
		for worker := range uint64(4) {
			workers.Go(func() {
				random := rand.New(rand.NewPCG(seed, worker))
				for left.Add(-1) >= 0 {
					within := time.Duration(random.Int64N(int64(60 * time.Millisecond)))
					ctx, cancel := context.WithTimeout(t.Context(), within)
					if _, err := p.Complete(ctx, clichain.Prompt(prompt)); err == nil {
						answers.Add(1)
					}
					cancel()
				}
			})
		}
		workers.Wait()
		whole := requireWhole(t, dir, prompt)
		require.LessOrEqual(t, answers.Load(), int64(whole), size)
		t.Logf("%s: %d answers, %d read the whole prompt", size, answers.Load(), whole)
	}
}
