package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/leaks/parallel"
)

const (
	first  = `{"id":"a","response":{"text":"<one>","backend":"claude","usage":{"cost_usd":0.5},"duration_ms":1}}` + "\n"
	second = `{"id":"b","error":{"reason":"exit","message":"no"}}` + "\n"
	third  = `{"id":"c","error":{"reason":"killed","message":"no","side_effects":true}}` + "\n"
)

func TestMain(m *testing.M) {
	parallel.Default(4 * runtime.GOMAXPROCS(0)) // most tests wait for processes and for the disk
	if err := os.Unsetenv("SKIP_CLI"); err != nil {
		panic(err)
	}
	os.Exit(clitest.Run(m))
}

// plain returns a CLI that prints its prompt.
func plain(t *testing.T, steps ...clitest.Step) []clichain.Backend {
	t.Helper()
	if steps == nil {
		steps = []clitest.Step{{ReadStdin: true}, {Echo: true}}
	}
	path := clitest.Fake(t, "plain", clitest.Scenario{Steps: steps})
	var spec clichain.CliSpec
	require.NoError(t, json.Unmarshal([]byte(`{"name":"plain","binary":"plain","transports":["stdin"],"args":[]}`), &spec))
	return []clichain.Backend{clichain.NewProvider(spec, &clichain.Config{Binary: path})}
}

// batchOf returns a batch that reads input and writes to a file.
func batchOf(t *testing.T, input string) *Config {
	t.Helper()
	return &Config{
		In: disk.Stream, Stdin: strings.NewReader(input), Stdout: io.Discard,
		Out: filepath.Join(t.TempDir(), "out.jsonl"), Jobs: 2, Backends: plain(t), Cold: true,
		Chain: clichain.ChainConfig{NoCooldown: true},
	}
}

// question returns a line with an id, and questions returns n lines.
func question(id string) string { return fmt.Sprintf(`{"id":%q,"prompt":"ask %s"}`+"\n", id, id) }

func questions(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(question(fmt.Sprint(i)))
	}
	return b.String()
}

// texts returns the answers of an output by id.
func texts(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	all := map[string]string{}
	for line := range bytes.Lines(data) {
		r, err := parseRecord(line)
		require.NoError(t, err)
		require.NotContains(t, all, r.ID, "one line for each id")
		all[r.ID] = ""
		if r.Response != nil {
			all[r.ID] = r.Response.Text
		}
	}
	return all
}

func TestRun(t *testing.T) {
	clitest.NoLeaks(t)
	cfg := batchOf(t, questions(5)+"{}\n")
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, s.Stopped)
	require.Equal(t, 5, s.Answered)
	require.Equal(t, 1, s.Bad)
	require.Zero(t, s.Left())
	require.Equal(t, map[string]int{"plain": 5}, s.Backends)
	got := texts(t, cfg.Out)
	require.Len(t, got, 5)
	require.Equal(t, "ask 3", got["3"])
}

// gap is an input that returns its next line only after the output contains a number of records.
type gap struct {
	t    *testing.T
	out  string
	n, i int
}

func (g *gap) Read(p []byte) (int, error) {
	if g.i == g.n {
		return 0, io.EOF
	}
	if g.i > 0 {
		require.Eventually(g.t, func() bool {
			data, _ := os.ReadFile(g.out)
			return bytes.Count(data, []byte("\n")) >= g.i
		}, time.Minute, time.Millisecond)
	}
	g.i++
	return copy(p, question(fmt.Sprint(g.i))), nil
}

// The run reads lines from a pipe when it needs them. It answers each line before the next line arrives.
func TestRunReadsPipeOnDemand(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, "")
	cfg.Stdin = &gap{t: t, out: cfg.Out, n: 3}
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, 3, s.Answered)
}

// The input has more lines than the queue accepts at once.
func TestRunWithMoreLinesThanQueueLimit(t *testing.T) {
	cfg := batchOf(t, "")
	require.Equal(t, 1000, cfg.ahead())
	cfg.Jobs = 500
	require.Equal(t, 2000, cfg.ahead())
}

// If the output is not writable, the run ends. The next run repeats no answered request.
func TestRunReportsOutputError(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, questions(6))
	cfg.Out, cfg.Store, cfg.Stdout = disk.Stream, t.TempDir(), &failing{after: 2}
	s, err := Run(t.Context(), cfg)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "stdout: the disk or the quota is full")
	require.Equal(t, 2, s.Answered)
	var out bytes.Buffer
	cfg.Stdin, cfg.Stdout = strings.NewReader(questions(6)), &out
	s, err = Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, 6, s.Answered)
	require.Equal(t, 6, strings.Count(out.String(), "\n"))
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// A failing input is an error. The run keeps the answers to earlier lines.
func TestRunReportsInputError(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, "")
	cfg.Stdin = io.MultiReader(strings.NewReader(question("a")), &broken{})
	_, err := Run(t.Context(), cfg)
	require.ErrorContains(t, err, "-i -: line 2 cannot be read: input/output error")
}

type broken struct{}

func (*broken) Read([]byte) (int, error) { return 0, syscall.EIO }

func TestRunStopped(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, questions(3))
	cfg.Backends = plain(t, clitest.Step{Hang: true})
	ctx, stop := context.WithCancelCause(t.Context())
	cfg.Stdin = io.MultiReader(cfg.Stdin, &stopping{func() { stop(os.ErrDeadlineExceeded) }})
	s, err := Run(ctx, cfg)
	require.NoError(t, err)
	require.ErrorIs(t, s.Stopped, os.ErrDeadlineExceeded)
	require.Empty(t, texts(t, cfg.Out))
	cfg.Backends, cfg.Stdin = plain(t), strings.NewReader(questions(3))
	s, err = Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, 3, s.Answered)
	require.NoDirExists(t, cfg.Out+".queue")
}

// stopping is the end of an input that calls a func.
type stopping struct{ do func() }

func (s *stopping) Read([]byte) (int, error) {
	s.do()
	return 0, io.EOF
}

// Config.RetryFailed retries failed lines. RetrySideEffects also retries the lines whose agent may have acted.
func TestRunRetriesFailedLines(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, question("a")+question("b")+question("c"))
	require.NoError(t, os.WriteFile(cfg.Out, []byte(first+second+third), 0o600))
	s, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, Counts{Answered: 1, Failed: 2, Before: 3, Kept: 1, Format: JSONL, Total: 3, CostUSD: 0.5,
		Backends: map[string]int{"claude": 1}, Reasons: map[clichain.Reason]int{"exit": 1, "killed": 1}}, s.Counts)
	cfg.RetryFailed, cfg.Stdin = true, strings.NewReader(questions(0)+question("a")+question("b")+question("c"))
	s, err = Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "<one>", "b": "ask b", "c": ""}, texts(t, cfg.Out))
	require.Equal(t, 2, s.Before)
	cfg.RetrySideEffects, cfg.Stdin = true, strings.NewReader(question("c"))
	_, err = Run(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, "ask c", texts(t, cfg.Out)["c"])
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, question("a")+question("b")+question("new")+`{"prompt":"x","schema":{"type":"array"}}`+"\n{\n")
	require.NoError(t, os.WriteFile(cfg.Out, []byte(first+second), 0o600))
	cfg.RetryFailed = true
	p, err := DryRun(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, &Plan{
		Good: 4, Bad: 1, Done: 1, Format: JSONL, First: map[string]int{"plain": 3}, Skips: map[Skip]int{}, Nobody: map[clichain.Reason]int{},
		Kinds:    map[string]int{`access "none"`: 3},
		Mistakes: []string{"line 5: is not valid JSON: unexpected end of JSON input"},
	}, p)
	require.Equal(t, first+second, string(mustRead(t, cfg.Out)), "nothing is written")
	entries, err := os.ReadDir(filepath.Dir(cfg.Out))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func mustRead(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return data
}

func TestConfigCheck(t *testing.T) {
	dir := t.TempDir()
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Link(file, link))
	for name, cfg := range map[string]*Config{
		"input is output":    {In: file, Out: dir + "/./file"},
		"link to the input":  {In: file, Out: link},
		"bad lines to input": {In: file, Out: disk.Stream, Bad: link},
		"nothing to retry":   {In: disk.Stream, Out: disk.Stream, RetryFailed: true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(t.Context(), cfg)
			require.ErrorAs(t, err, new(*Mistake))
		})
	}
	require.NoError(t, (&Config{In: disk.Stream, Out: disk.Stream}).Check())
	require.NoError(t, (&Config{In: os.DevNull, Out: os.DevNull + "/../zero"}).Check())
}

func TestRunRejectsDirectoryAsOutput(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*Config){
		"output": func(cfg *Config) { cfg.Out = t.TempDir() },
		"input":  func(cfg *Config) { cfg.In = t.TempDir() },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := batchOf(t, question("a"))
			set(cfg)
			_, err := Run(t.Context(), cfg)
			require.ErrorAs(t, err, new(*Mistake))
			require.ErrorContains(t, err, "is a directory")
			_, err = DryRun(t.Context(), cfg)
			require.ErrorAs(t, err, new(*Mistake))
		})
	}
}
