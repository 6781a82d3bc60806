package calllog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newLog(t *testing.T, cfg *Config) *Log {
	t.Helper()
	l, err := Open(filepath.Join(t.TempDir(), "calls"), cfg)
	require.NoError(t, err)
	return l
}

func appendAll(t *testing.T, l *Log, n int) {
	t.Helper()
	for i := range n {
		require.NoError(t, l.Append(t.Context(), aRecord(i)))
	}
}

func verify(t *testing.T, l *Log) *Report {
	t.Helper()
	report, err := l.Verify(t.Context())
	require.NoError(t, err)
	return report
}

func requireProblem(t *testing.T, l *Log, file, text string) {
	t.Helper()
	var all []string
	for _, p := range verify(t, l).Problems {
		if p.File == file && strings.Contains(p.Text, text) {
			return
		}
		all = append(all, p.String())
	}
	require.Fail(t, "no problem of "+file+" with "+text, "%q", all)
}

func records(t *testing.T, l *Log, f Filter) (list []Record) {
	t.Helper()
	for r, err := range l.Records(f) {
		require.NoError(t, err)
		list = append(list, r)
	}
	return list
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		name, dir string
		cfg       Config
		want      string
	}{
		{"relative directory", "calls", Config{}, "not an absolute path"},
		{"too small", dir, Config{MaxBytes: MinMaxBytes - 1}, "Config.MaxBytes is 1048575"},
		{"too short", dir, Config{MaxAge: -time.Hour}, "Config.MaxAge is -1h0m0s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Open(test.dir, &test.cfg)
			require.ErrorContains(t, err, test.want)
		})
	}
	t.Setenv("XDG_STATE_HOME", dir)
	l, err := Open("", nil)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "clichain", "calls"), l.Dir())
}

// A log that does not exist is empty, and reading it creates nothing.
func TestMissingLog(t *testing.T) {
	l := newLog(t, nil)
	require.Empty(t, records(t, l, Filter{}))
	require.Equal(t, &Report{Problems: []Problem{}}, verify(t, l))
	require.NoDirExists(t, l.dir)
}

func TestFilter(t *testing.T) {
	l := newLog(t, nil)
	appendAll(t, l, 10)
	failed := aRecord(10)
	failed.ID, failed.Reason = "failed", "usage_limit"
	require.NoError(t, l.Append(t.Context(), failed))
	for _, test := range []struct {
		name   string
		filter Filter
		want   int
	}{
		{"all", Filter{}, 11},
		{"id", Filter{ID: "failed"}, 1},
		{"since", Filter{Since: aRecord(8).Time}, 3},
		{"backend", Filter{Backend: "codex"}, 5},
		{"model", Filter{Model: "m2"}, 3},
		{"reason", Filter{Reason: "usage_limit"}, 1},
		{"answered", Filter{Reason: Answered}, 10},
		{"failed", Filter{Failed: true}, 1},
		{"project", Filter{Project: "/home/me/p1"}, 2},
		{"directory above the projects", Filter{Project: "/home/me/"}, 11},
		{"part of a name", Filter{Project: "/home/m"}, 0},
		{"two fields", Filter{Backend: "codex", Model: "m1"}, 2},
	} {
		t.Run(test.name, func(t *testing.T) { require.Len(t, records(t, l, test.filter), test.want) })
	}
}

// A damaged line does not hide the other lines.
func TestRecordsContinuesAfterDamagedLine(t *testing.T) {
	l := newLog(t, nil)
	appendAll(t, l, 5)
	path := filepath.Join(l.dir, "00000001.jsonl")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(data), "\n")
	lines[1] = "{}\n"
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")+"partial"), 0o600))
	var texts []string
	good := 0
	for _, err := range l.Records(Filter{}) {
		if err != nil {
			texts = append(texts, err.Error())
		} else {
			good++
		}
	}
	require.Equal(t, 4, good)
	require.Equal(t, []string{"calllog: 00000001.jsonl, line 2: the line is not a record"}, texts)
}
