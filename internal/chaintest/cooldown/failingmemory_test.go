package cooldown_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
)

// failingAfter returns a chain of backends whose program plays the steps and fails.
func failingAfter(t *testing.T, backends int, output clispec.OutputMode, steps ...clitest.Step) *clichain.Chain {
	t.Helper()
	binary := clitest.Fake(t, "fake", chaintest.Play(append(append([]clitest.Step{chaintest.ReadStdin}, steps...), clitest.Exit(1))...))
	spec := clichain.CliSpec{
		Binary: binary, Transports: []clispec.Transport{clispec.TransportStdin}, Outputs: []clispec.OutputMode{output},
		Events: []clispec.EventRule{
			{Match: map[string]string{"type": "delta"}, Kind: clichain.EventDelta, Set: map[string]string{"text": "text"}},
			{Match: map[string]string{"type": "end"}, Kind: clichain.EventResult, Terminal: true},
		},
	}
	list := make([]clichain.Backend, backends)
	for i := range list {
		list[i] = clichain.NewProvider(chaintest.Named(spec, fmt.Sprint("fake", i)), nil)
	}
	return clichain.ChainOf(list, nil)
}

// The output of failed attempts does not stay in memory with their errors, except for the first MB of an answer.
func TestMemoryOfFailedAttempts(t *testing.T) {
	const attempts, mb = 3, 1 << 20
	delta := `{"type":"delta","text":"` + strings.Repeat("wörter ", 100) + `"}` + "\n"
	for _, test := range []struct {
		name   string
		output clispec.OutputMode
		step   clitest.Step
		kept   int64 // bytes of an attempt, at most
	}{
		{"answer", clispec.OutputStream, chaintest.Stdout(strings.Repeat(delta, 2*mb/len(delta))), 3 * mb / 2},
		{"text", clispec.OutputText, clitest.Step{FloodStdout: 4 * mb}, mb / 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			chain := failingAfter(t, attempts, test.output, test.step)
			var before, kept runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, err := chain.Complete(t.Context(), clichain.Prompt("hi"))
			runtime.GC()
			runtime.ReadMemStats(&kept)
			require.Less(t, int64(kept.HeapAlloc)-int64(before.HeapAlloc), attempts*test.kept)
			failed, ok := errors.AsType[*clichain.ChainError](err)
			require.True(t, ok, "%v", err)
			require.Len(t, failed.Attempts, attempts)
			for _, a := range failed.Attempts {
				be := chaintest.RequireReason(t, clichain.ReasonExit, a.Err)
				require.LessOrEqual(t, len(be.Partial), mb)
				require.True(t, utf8.ValidString(be.Partial))
			}
		})
	}
}
