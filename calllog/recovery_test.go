package calllog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// interrupted leaves the log as a process leaves it that is killed after it wrote the first bytes of the next line.
func interrupted(t *testing.T, l *Log, share float64) {
	t.Helper()
	h, err := readHead(l.dir)
	require.NoError(t, err)
	r := aRecord(100)
	r.ID, r.Prev = "interrupted", h.Hash
	line, err := r.line(maxLine)
	require.NoError(t, err)
	h.Next = &next{hashOf(line), int64(len(line)) + 1}
	root, err := os.OpenRoot(l.dir)
	require.NoError(t, err)
	defer root.Close()
	require.NoError(t, h.save(root))
	line = append(line, '\n')
	addBytes(t, l, line[:int(share*float64(len(line)))])
}

// addBytes adds bytes to the last segment.
func addBytes(t *testing.T, l *Log, data []byte) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(l.dir, "00000001.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.Write(data)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

func TestUnfinishedAppend(t *testing.T) {
	for _, test := range []struct {
		name  string
		share float64
		note  string
		want  []string
	}{
		{"before the line", 0, "before it wrote", []string{"last"}},
		{"within the line", 0.5, "while it wrote", []string{"last"}},
		{"after the line", 1, "the next append counts the record", []string{"interrupted", "last"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLog(t, nil)
			appendAll(t, l, 3)
			interrupted(t, l, test.share)
			report := verify(t, l)
			require.Empty(t, report.Problems)
			require.Contains(t, report.Note, test.note)

			last := aRecord(3)
			last.ID = "last"
			require.NoError(t, l.Append(t.Context(), last))
			report = verify(t, l)
			require.Empty(t, report.Problems)
			require.Empty(t, report.Note)
			var ids []string
			for _, r := range records(t, l, Filter{})[3:] {
				ids = append(ids, r.ID)
			}
			require.Equal(t, test.want, ids)
			require.EqualValues(t, 3+len(test.want), report.Records)
		})
	}
}

// A process that is killed while it replaces the head leaves the new head only.
func TestHeadWithoutItsName(t *testing.T) {
	l := newLog(t, nil)
	appendAll(t, l, 3)
	path := filepath.Join(l.dir, headName)
	require.NoError(t, os.Rename(path, path+newHead))
	require.Empty(t, verify(t, l).Problems)
	appendAll(t, l, 1)
	report := verify(t, l)
	require.Empty(t, report.Problems)
	require.EqualValues(t, 4, report.Records)
}

// A line that was added by another program, even with the right hash, stays a problem after the next append.
func TestForgedLine(t *testing.T) {
	for _, unfinished := range []bool{false, true} {
		l := newLog(t, nil)
		appendAll(t, l, 3)
		h, err := readHead(l.dir)
		require.NoError(t, err)
		if unfinished {
			interrupted(t, l, 0)
		}
		forged := aRecord(7)
		forged.ID, forged.Prev = "forged", h.Hash
		line, err := forged.line(maxLine)
		require.NoError(t, err)
		addBytes(t, l, append(line, '\n'))
		requireProblem(t, l, "00000001.jsonl", "bytes were added at the end")
		appendAll(t, l, 1)
		requireProblem(t, l, "00000001.jsonl", "bytes were added at the end")
		require.FileExists(t, filepath.Join(l.dir, "00000002.jsonl"))
	}
}

// Within its limits of size and age the log is valid, and the head has the hash before the first line that is left.
func TestLimits(t *testing.T) {
	for _, test := range []struct {
		name string
		cfg  Config
		step time.Duration // between two records
	}{
		{"size", Config{MaxBytes: MinMaxBytes}, time.Second},
		{"age", Config{MaxAge: 24 * time.Hour}, 10 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLog(t, &test.cfg)
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			l.now = func() time.Time { return now }
			const all = 500
			for i := range all {
				now = now.Add(test.step)
				r := aRecord(i)
				r.Time, r.Answer = now, strings.Repeat("a", 5000)
				require.NoError(t, l.Append(t.Context(), r))
			}
			list := records(t, l, Filter{})
			require.Less(t, len(list), all)
			require.Greater(t, len(list), all/4)
			require.LessOrEqual(t, now.Sub(list[0].Time), l.cfg.MaxAge)
			require.LessOrEqual(t, size(t, l.dir), l.cfg.MaxBytes+maxHead)
			report := verify(t, l)
			require.Empty(t, report.Problems)
			require.EqualValues(t, len(list), report.Records)
			require.EqualValues(t, all, report.Records+report.Removed)
			h, err := readHead(l.dir)
			require.NoError(t, err)
			require.Equal(t, list[0].Prev, h.Segments[0].Before)

			first := filepath.Join(l.dir, h.Segments[0].name())
			data, err := os.ReadFile(first)
			require.NoError(t, err)
			_, rest, _ := strings.Cut(string(data), "\n")
			require.NoError(t, os.WriteFile(first, []byte(rest), 0o600))
			require.NotEmpty(t, verify(t, l).Problems, "the first line that is left was removed")
		})
	}
}

func size(t *testing.T, dir string) (total int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		total += info.Size()
	}
	return total
}

// A log that was found damaged continues, and the damage is reported until its file is removed.
func TestDamageEndsWithItsFile(t *testing.T) {
	l := newLog(t, &Config{MaxAge: 24 * time.Hour})
	now := time.Now()
	l.now = func() time.Time { return now }
	appendAll(t, l, 3)
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, headName), []byte("{}"), 0o600))
	requireProblem(t, l, headName, "was changed")
	appendAll(t, l, 3)
	requireProblem(t, l, "00000001.jsonl", "damaged")
	require.EqualValues(t, 3, verify(t, l).Records)
	now = now.Add(25 * time.Hour)
	appendAll(t, l, 1)
	require.Empty(t, verify(t, l).Problems)
	require.NoFileExists(t, filepath.Join(l.dir, "00000001.jsonl"))
}

// Only this user can read the files.
func TestFilesArePrivate(t *testing.T) {
	l := newLog(t, nil)
	appendAll(t, l, 2)
	info, err := os.Stat(l.dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	entries, err := os.ReadDir(l.dir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), entry.Name())
		names = append(names, entry.Name())
	}
	require.Equal(t, []string{"00000001.jsonl", "head", "lock", "lock.next"}, slices.Sorted(slices.Values(names)))
}

// No content of the files makes reading panic, or prevents later records.
func FuzzFiles(f *testing.F) {
	l, err := Open(filepath.Join(f.TempDir(), "calls"), nil)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 2 {
		if err := l.Append(f.Context(), aRecord(i)); err != nil {
			f.Fatal(err)
		}
	}
	lines, err := os.ReadFile(filepath.Join(l.dir, "00000001.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(lines, []byte(`{"version":1,"segments":[{"number":1,"bytes":10}],"count":1,"next":{"hash":"","bytes":3}}`))
	f.Add([]byte("{}\n\n[\n"), []byte(`{"segments":[{"number":9223372036854775807}]}`))
	f.Add([]byte("x\n"), []byte(`{"version":1,"segments":[{"number":1,"bytes":9223372036854775807}],"next":{"bytes":9}}`))
	f.Add([]byte(nil), []byte(`{"segments":[],"next":{"bytes":1}}`))
	f.Add([]byte("x"), []byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, lines, headText []byte) {
		l := newLog(t, nil)
		require.NoError(t, os.Mkdir(l.dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(l.dir, "00000001.jsonl"), lines, 0o600))
		text := append(append(slices.Clone(headText), '\n'), checksum(headText)...)
		require.NoError(t, os.WriteFile(filepath.Join(l.dir, headName), text, 0o600))
		for r := range l.Records(Filter{}) {
			_, err := r.MarshalJSON()
			require.NoError(t, err)
		}
		_, _ = l.Verify(t.Context())
		if err := l.Append(t.Context(), aRecord(1)); err != nil {
			require.ErrorContains(t, err, "version")
			return
		}
		list := 0
		for r, err := range l.Records(Filter{ID: ""}) {
			if err == nil && r.Backend == "codex" {
				list++
			}
		}
		require.NotZero(t, list)
	})
}
