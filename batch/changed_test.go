package batch

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/clitest"
)

// again runs a batch once more with another input.
func again(t *testing.T, cfg *Config, input string) *Summary {
	t.Helper()
	cfg.Stdin = strings.NewReader(input)
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	return s
}

func TestRunAnswersOnlyInsertedLine(t *testing.T) {
	t.Parallel()
	const one, two = `{"prompt":"one"}` + "\n", `{"prompt":"two"}` + "\n"
	cfg := batchOf(t, one+two+one)
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, 3, s.Answered)
	cfg.Backends = plain(t, clitest.Step{ReadStdin: true}, clitest.Step{Stdout: "later"})
	s = again(t, cfg, `{"prompt":"new"}`+"\n"+one+two+one)
	require.Equal(t, 4, s.Answered)
	require.Equal(t, 1, strings.Count(string(mustRead(t, cfg.Out)), "later"))
}

// A line with a known id and a new prompt keeps its record. Config.Changed retries it.
func TestRunRetriesChangedLines(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, question("a")+question("b")+question("c"))
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Zero(t, s.Changed)
	edited := question("a") + `{"id":"b","prompt":"edited"}` + "\n" + `{"id":"c","prompt":"ask c","priority":"high"}` + "\n"

	s = again(t, cfg, edited)
	require.Equal(t, 1, s.Changed, "the priority of a line is not what it asks")
	require.Equal(t, 3, s.Answered)
	require.Equal(t, "ask b", texts(t, cfg.Out)["b"])

	cfg.Stdin = strings.NewReader(edited)
	p, err := DryRun(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, []int{1, 3}, []int{p.Changed, p.Done})

	cfg.Changed = true
	cfg.Stdin = strings.NewReader(edited)
	p, err = DryRun(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, []int{p.Changed, p.Done})
	s = again(t, cfg, edited)
	require.Zero(t, s.Changed)
	require.Equal(t, []int{3, 2}, []int{s.Answered, s.Before})
	require.Equal(t, map[string]string{"a": "ask a", "b": "edited", "c": "ask c"}, texts(t, cfg.Out))
	require.NotContains(t, string(mustRead(t, cfg.Out)), digestKey)
}

// A new default model changes the requests of all lines.
func TestRunDetectsChangedModel(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, question("a"))
	again(t, cfg, question("a"))
	cfg.Defaults.Model = "other"
	require.Equal(t, 1, again(t, cfg, question("a")).Changed)
}

// A killed run with Config.Changed can leave two records of an id. The next run uses the later one.
func TestRunReadsRecordsOfKilledChangedRun(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, question("a")+question("b"))
	_, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	f, err := os.OpenFile(cfg.Out, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(first)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	s := again(t, cfg, question("a")+question("b"))
	require.Equal(t, 2, s.Answered)
	require.Equal(t, map[string]string{"a": "<one>", "b": "ask b"}, texts(t, cfg.Out))
}

// The queue may contain a result for an earlier version of the line. This result does not answer the new version.
func TestRunIgnoresQueuedResultOfChangedLine(t *testing.T) {
	t.Parallel()
	for name, changed := range map[string]bool{"kept": false, "asked again": true} {
		t.Run(name, func(t *testing.T) {
			cfg := batchOf(t, question("a"))
			cfg.Store = t.TempDir()
			broken := &failing{}
			cfg.Out, cfg.Stdout = disk.Stream, broken
			_, err := Run(t.Context(), cfg) // only the queue contains the answer
			require.Error(t, err)
			var out strings.Builder
			cfg.Stdout = &out
			if changed {
				cfg.Changed = true
			}
			cfg.Stdin = strings.NewReader(`{"id":"a","prompt":"edited"}` + "\n")
			r, err := Run(t.Context(), cfg)
			require.NoError(t, err)
			if changed {
				require.Contains(t, out.String(), `"text":"edited"`)
				return
			}
			require.Contains(t, out.String(), `"text":"ask a"`)
			require.Equal(t, 1, r.Changed)
		})
	}
}
