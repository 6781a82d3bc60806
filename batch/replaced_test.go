package batch

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// meddler is an input that modifies the output before it returns its last line.
type meddler struct {
	lines  io.Reader
	meddle func()
	last   io.Reader
}

func (m *meddler) Read(p []byte) (int, error) {
	n, err := m.lines.Read(p)
	if n > 0 || err == nil {
		return n, nil
	}
	if m.meddle != nil {
		m.meddle()
		m.meddle = nil
	}
	return m.last.Read(p)
}

// meddling returns a batch of three lines. meddle modifies the output after the answers to the first two lines and
// before the third line.
func meddling(t *testing.T, meddle func(out string)) *Config {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("an open file keeps its name")
	}
	cfg := batchOf(t, "")
	cfg.Out = filepath.Join(t.TempDir(), "dir", "out.jsonl")
	require.NoError(t, os.Mkdir(filepath.Dir(cfg.Out), 0o700))
	cfg.Stdin = &meddler{strings.NewReader(question("a") + question("b")), func() {
		require.Eventually(t, func() bool {
			data, _ := os.ReadFile(cfg.Out)
			return strings.Count(string(data), "\n") == 2
		}, time.Minute, time.Millisecond)
		meddle(cfg.Out)
	}, strings.NewReader(question("c"))}
	return cfg
}

func TestOutputDeletedDuringRun(t *testing.T) {
	t.Parallel()
	cfg := meddling(t, func(out string) { require.NoError(t, os.Remove(out)) })
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, 3, s.Answered)
	require.Equal(t, map[string]string{"a": "ask a", "b": "ask b", "c": "ask c"}, texts(t, cfg.Out))
}

func TestOutputRenamedDuringRun(t *testing.T) {
	t.Parallel()
	cfg := meddling(t, func(out string) { require.NoError(t, os.Rename(out, out+".moved")) })
	_, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Len(t, texts(t, cfg.Out), 3)
}

// If the output is a link to a missing file, the batch creates that file.
func TestOutputIsDanglingLink(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, question("a"))
	target := filepath.Join(t.TempDir(), "target.jsonl")
	if err := os.Symlink(target, cfg.Out); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	_, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Len(t, texts(t, target), 1)
}

// The batch does not change the file of another program. It writes the answers to a file next to it.
func TestOutputReplacedDuringRun(t *testing.T) {
	t.Parallel()
	cfg := meddling(t, func(out string) {
		require.NoError(t, os.Rename(out, out+".moved"))
		require.NoError(t, os.Remove(out+".moved"))
		require.NoError(t, os.WriteFile(out, []byte("mine\n"), 0o600))
	})
	_, err := Run(t.Context(), cfg)
	require.ErrorContains(t, err, cfg.Out+": another file replaced it during the run")
	require.ErrorContains(t, err, cfg.Out+".saved")
	require.Equal(t, "mine\n", string(mustRead(t, cfg.Out)))
	saved := texts(t, cfg.Out+".saved")
	require.Equal(t, "ask a", saved["a"])
	require.Equal(t, "ask b", saved["b"])

	// After the saved file is renamed to the output, the batch resumes.
	require.NoError(t, os.Rename(cfg.Out+".saved", cfg.Out))
	cfg.Stdin = strings.NewReader(question("a") + question("b") + question("c"))
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.GreaterOrEqual(t, s.Before, 2)
	require.Len(t, texts(t, cfg.Out), 3)
}

// If the directory is deleted too, the answers are in a temporary file.
func TestDirectoryDeletedDuringRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	cfg := meddling(t, func(out string) { require.NoError(t, os.RemoveAll(filepath.Dir(out))) })
	cfg.Store = t.TempDir() // the queue is in another directory
	_, err := Run(t.Context(), cfg)
	require.ErrorContains(t, err, cfg.Out)
	files, globErr := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "clichain-batch-*.jsonl"))
	require.NoError(t, globErr)
	require.Len(t, files, 1)
	require.ErrorContains(t, err, files[0])
	require.Equal(t, "ask a", texts(t, files[0])["a"])
}

// An output that another program truncates has lost records. The run must report an error.
func TestOutputTruncatedDuringRun(t *testing.T) {
	t.Parallel()
	cfg := meddling(t, func(out string) { require.NoError(t, os.Truncate(out, 0)) })
	_, err := Run(t.Context(), cfg)
	require.ErrorContains(t, err, cfg.Out+": another program changed it during the run")
}
