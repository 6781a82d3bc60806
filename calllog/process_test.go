package calllog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest/fake"
)

// Variables that make this program append records: the directory and the number of records.
const (
	writerRole  = "CLICHAIN_TEST_CALLLOG"
	writerCount = "CLICHAIN_TEST_CALLLOG_COUNT"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerRole); dir != "" {
		write(dir)
	}
	os.Exit(fake.Run(m))
}

// write appends records, and prints a line for each.
func write(dir string) {
	count, _ := strconv.Atoi(os.Getenv(writerCount))
	l, err := Open(dir, nil)
	for i := 0; err == nil && i < count; i++ {
		for err = errBusy; errors.Is(err, errBusy); { // a busy machine
			err = l.Append(context.Background(), aRecord(i))
		}
		if err == nil {
			fmt.Println(i)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func aRecord(i int) Record {
	cost := float64(i) / 100
	return Record{
		ID: newID(), Time: time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC), Duration: time.Second,
		Backend: []string{"claude", "codex"}[i%2], Model: "m" + strconv.Itoa(i%3), Project: "/home/me/p" + strconv.Itoa(i%5),
		Usage: call.Usage{InputTokens: 10, OutputTokens: 2, CostUSD: &cost},
	}
}

// run runs a writer, and kills it after so many records unless kill is negative. It returns the number of records that
// the writer reported.
func run(t *testing.T, dir string, count, kill int) (written int) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), writerRole+"="+dir, writerCount+"="+strconv.Itoa(count), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return 0
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if written++; written == kill {
			time.AfterFunc(time.Duration(rand.IntN(1000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err != nil && kill < 0 {
		t.Error(err)
	}
	return written
}

// Twenty processes append, while others are killed. The log has every record that a process has reported, and Verify
// finds each change.
func TestProcesses(t *testing.T) {
	total, changed := 2000, 200
	if os.Getenv("CLICHAIN_CONFORMANCE") == "long" {
		total, changed = 100_000, 1000
	}
	const processes = 20
	dir := filepath.Join(t.TempDir(), "calls")
	var writers sync.WaitGroup
	var mu sync.Mutex
	written, kills := 0, 0
	for i := range processes {
		writers.Go(func() {
			left := total / processes
			for left > 0 {
				kill := -1
				if i%2 == 0 && left > 40 {
					kill = 1 + rand.IntN(left/2)
				}
				n := run(t, dir, left, kill)
				mu.Lock()
				written += n
				if kill > 0 {
					kills++
				}
				mu.Unlock()
				if left -= n; n == 0 || t.Failed() {
					return
				}
			}
		})
	}
	writers.Wait()
	require.False(t, t.Failed())
	l, err := Open(dir, nil)
	require.NoError(t, err)
	report, err := l.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	records := int(report.Records)
	require.GreaterOrEqual(t, records, written)
	require.LessOrEqual(t, records, written+kills, "a killed process has at most one record that it did not report")
	require.GreaterOrEqual(t, written, total-processes)
	t.Logf("%d records, %d kills, note %q", records, kills, report.Note)
	require.NoError(t, l.Append(t.Context(), aRecord(0))) // settles the last append
	report, err = l.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.Empty(t, report.Note)
	checkChanges(t, l, changed)
}

// checkChanges changes the files of a log in that many random ways, each undone before the next.
func checkChanges(t *testing.T, l *Log, times int) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	files, err := segmentsIn(l.dir)
	require.NoError(t, err)
	names := []string{headName}
	for _, s := range files {
		names = append(names, s.name(), s.name(), s.name())
	}
	for i := range times {
		path := filepath.Join(l.dir, names[random.IntN(len(names))])
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		kind := random.IntN(len(changes))
		after := changes[kind](random, before)
		if string(after) == string(before) {
			continue // such as two equal bytes that were swapped
		}
		require.NoError(t, os.WriteFile(path, after, 0o600))
		report, err := l.Verify(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, report.Problems, "seed %d, change %d of kind %d in %s", seed, i, kind, path)
		require.NoError(t, os.WriteFile(path, before, 0o600))
	}
	report, err := l.Verify(t.Context())
	require.NoError(t, err)
	require.Empty(t, report.Problems)
}

// changes are the ways to change the content of a file.
var changes = []func(r *rand.Rand, data []byte) []byte{
	func(r *rand.Rand, data []byte) []byte { // flip bits of a byte
		data = append([]byte(nil), data...)
		data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
		return data
	},
	func(r *rand.Rand, data []byte) []byte { // remove a line
		lines := strings.SplitAfter(string(data), "\n")
		at := r.IntN(len(lines) - 1)
		return []byte(strings.Join(append(lines[:at:at], lines[at+1:]...), ""))
	},
	func(r *rand.Rand, data []byte) []byte { // swap two lines
		lines := strings.SplitAfter(string(data), "\n")
		a, b := r.IntN(len(lines)-1), r.IntN(len(lines)-1)
		lines[a], lines[b] = lines[b], lines[a]
		return []byte(strings.Join(lines, ""))
	},
	func(r *rand.Rand, data []byte) []byte { // repeat a line
		lines := strings.SplitAfter(string(data), "\n")
		at := r.IntN(len(lines) - 1)
		lines[at] += lines[at]
		return []byte(strings.Join(lines, ""))
	},
	func(r *rand.Rand, data []byte) []byte { return data[:r.IntN(len(data))] }, // cut off the end
	func(r *rand.Rand, data []byte) []byte { // cut off the last lines
		lines := strings.SplitAfter(string(data), "\n")
		return []byte(strings.Join(lines[:len(lines)-2-r.IntN(min(3, len(lines)-1))], ""))
	},
	func(r *rand.Rand, data []byte) []byte { // insert a byte
		at := r.IntN(len(data) + 1)
		return append(append(append([]byte(nil), data[:at]...), byte(r.IntN(256))), data[at:]...)
	},
}

// A removed file, or a log whose head was removed, is found too, also after the next append.
func TestVerifyFindsRemovedFiles(t *testing.T) {
	for _, name := range []string{"head", "00000001.jsonl"} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t, nil)
			appendAll(t, l, 10)
			require.NoError(t, os.Remove(filepath.Join(l.dir, name)))
			requireProblem(t, l, name, "missing")
			appendAll(t, l, 1)
			requireProblem(t, l, "00000001.jsonl", "missing")
			_, err := os.Stat(filepath.Join(l.dir, "00000002.jsonl"))
			require.NoError(t, err, "later records have a new file")
		})
	}
}

// No later line has the hash of the last line, so the head has it.
func TestVerifyFindsChangedLastLine(t *testing.T) {
	l := newLog(t, nil)
	appendAll(t, l, 3)
	path := filepath.Join(l.dir, "00000001.jsonl")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	at := strings.LastIndex(string(data), `"codex"`)
	at = max(at, strings.LastIndex(string(data), `"claude"`))
	data[at+1] = 'C'
	require.NoError(t, os.WriteFile(path, data, 0o600))
	requireProblem(t, l, "00000001.jsonl", "the line was changed")
}
