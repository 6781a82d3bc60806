//go:build unix

package calllog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A segment that is not a file must not block a reader or an append. The next append begins a new segment.
func TestSegmentIsNotAFile(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"pipe":      func(path string) error { return unix.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":      func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t, nil)
			require.NoError(t, l.Append(t.Context(), recordOf("a")))
			first := filepath.Join(l.dir, "00000001.jsonl")
			require.NoError(t, os.Remove(first))
			require.NoError(t, replace(first))
			require.NoError(t, l.Append(t.Context(), recordOf("b")))
			var ids []string
			var failures []error
			for r, err := range l.Records(Filter{}) {
				if ids = append(ids, r.ID); err != nil {
					failures = append(failures, err)
				}
			}
			require.Equal(t, []string{"", "b"}, ids)
			require.Len(t, failures, 1)
			require.ErrorContains(t, failures[0], first+" is not a regular file")
			report, err := l.Verify(t.Context())
			require.NoError(t, err)
			require.Equal(t, []Problem{{File: "00000001.jsonl", Text: "it is not a regular file; it had 1 records"}}, report.Problems)
		})
	}
}

// Other programs can remove the head again and again. The new segments must not make the head too large.
func TestHeadIsRemovedOften(t *testing.T) {
	l := newLog(t, nil)
	for i := range 3 * maxSegments {
		require.NoError(t, l.Append(t.Context(), recordOf(fmt.Sprint(i))))
		require.NoError(t, os.Remove(filepath.Join(l.dir, headName)))
	}
	h, err := l.current(openDir(t, l))
	require.NoError(t, err)
	require.LessOrEqual(t, len(h.Segments), maxSegments+1)
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, headName), make([]byte, maxHead+1), 0o600))
	require.NoError(t, l.Append(t.Context(), recordOf("last")), "a head that is too large is damaged")
}

func openDir(t *testing.T, l *Log) *os.Root {
	root, err := os.OpenRoot(l.dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestStrangeLines(t *testing.T) {
	l := newLog(t, nil)
	require.NoError(t, l.Append(t.Context(), recordOf("a")))
	path := filepath.Join(l.dir, "00000001.jsonl")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	const valid = `{"id":"x","time":"2026-11-26T07:22:00Z","usage":{"input_tokens":1}`
	for name, line := range map[string]string{
		"longer than the limit": strings.Replace(valid, "x", strings.Repeat("x", 10*maxLine), 1) + "}",
		"duration":              valid + `,"duration_ms":1e300}`,
		"negative tokens":       strings.Replace(valid, "1}", "-1}", 1) + "}",
		"too many tokens":       strings.Replace(valid, "1}", "9223372036854775807}", 1) + "}",
		"cost":                  strings.Replace(valid, "1}", `1,"cost_usd":1e308}`, 1) + "}",
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, append([]byte(line+"\n"), good...), 0o600))
			var ids []string
			failures := 0
			for r, err := range l.Records(Filter{}) {
				if err != nil {
					failures++
				} else {
					ids = append(ids, r.ID)
				}
			}
			require.Equal(t, 1, failures)
			require.Equal(t, []string{"a"}, ids, "the lines after it are read")
		})
	}
}

func recordOf(id string) Record { return Record{ID: id, Time: time.Now()} }
