package batch

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/clitest"
)

// again runs a batch once more, with another input.
func again(t *testing.T, cfg *Config, input string) *Summary {
	t.Helper()
	cfg.Stdin = strings.NewReader(input)
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	return s
}

// A line that is inserted on top is the only one that is asked.
func TestInsertedLineAsksOnlyItself(t *testing.T) {
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

// The same id with another prompt keeps its answer, and says so; Changed asks again.
func TestChangedLines(t *testing.T) {
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

// Another model of all lines is another request.
func TestChangedModel(t *testing.T) {
	cfg := batchOf(t, question("a"))
	again(t, cfg, question("a"))
	cfg.Defaults.Model = "other"
	require.Equal(t, 1, again(t, cfg, question("a")).Changed)
}

// A run with Changed that was killed leaves two records of an id: the later one counts.
func TestChangedKilled(t *testing.T) {
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

// A result that the queue still has of an earlier text of the line is no answer to the new one.
func TestChangedInQueue(t *testing.T) {
	for name, changed := range map[string]bool{"kept": false, "asked again": true} {
		t.Run(name, func(t *testing.T) {
			cfg := batchOf(t, question("a"))
			cfg.Store = t.TempDir()
			broken := &failing{}
			cfg.Out, cfg.Stdout = disk.Stream, broken
			_, err := Run(t.Context(), cfg) // the answer is in the queue, and nowhere else
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
