package lines_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/internal/lines"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/stretchr/testify/require"
)

// split writes the pieces and returns the lines, copied at each call of Line.
func split(limit int, pieces ...string) (got []string, skipped int) {
	s := &lines.Splitter{Max: limit, Line: func(line []byte) { got = append(got, string(line)) }}
	for _, piece := range pieces {
		buffer := []byte(piece)
		if n, err := s.Write(buffer); n != len(piece) || err != nil {
			panic("a short write")
		}
		clear(buffer) // the splitter must not keep the slice
	}
	_ = s.Close()
	return got, s.Skipped
}

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		name    string
		pieces  []string
		want    []string
		skipped int
	}{
		{"nothing", nil, nil, 0},
		{"one line", []string{"a\n"}, []string{"a"}, 0},
		{"several in one write", []string{"a\nb\nc\n"}, []string{"a", "b", "c"}, 0},
		{"no end", []string{"a\nb"}, []string{"a", "b"}, 0},
		{"empty lines", []string{"\n\na\n\n"}, []string{"", "", "a", ""}, 0},
		{"CRLF", []string{"a\r\nb\r\n"}, []string{"a", "b"}, 0},
		{"CRLF over two writes", []string{"a\r", "\nb"}, []string{"a", "b"}, 0},
		{"one CR only", []string{"a\r\r\n"}, []string{"a\r"}, 0},
		{"CR inside", []string{"a\rb\n"}, []string{"a\rb"}, 0},
		{"byte by byte", []string{"a", "b", "\n", "c", "\n"}, []string{"ab", "c"}, 0},
		{"empty writes", []string{"", "a", "", "\n", ""}, []string{"a"}, 0},
		{"a rune over two writes", []string{"\xe4\xb8", "\xad\n"}, []string{"中"}, 0},
		{"as long as allowed", []string{"12345678\n"}, []string{"12345678"}, 0},
		{"as long as allowed, in pieces", []string{"1234", "5678", "\n"}, []string{"12345678"}, 0},
		{"a byte too long", []string{"123456789\nb\n"}, []string{"b"}, 1},
		{"too long, in pieces", []string{"12345", "6789", "0\nb\n"}, []string{"b"}, 1},
		{"too long at the end of the piece", []string{"12345678", "9\n", "b\n"}, []string{"b"}, 1},
		{"two too long", []string{"123456789\n123456789\nb"}, []string{"b"}, 2},
		{"too long without an end", []string{"a\n12345", "67890"}, []string{"a"}, 1},
		{"too long, then an empty line", []string{"123456789\n\n"}, []string{""}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, skipped := split(8, test.pieces...)
			require.Equal(t, test.want, got)
			require.Equal(t, test.skipped, skipped)
		})
	}
}

func TestCloseTwice(t *testing.T) {
	count := 0
	s := &lines.Splitter{Line: func([]byte) { count++ }}
	_, _ = s.Write([]byte("a"))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	require.Equal(t, 1, count)
}

func TestDefaultMax(t *testing.T) {
	long := strings.Repeat("x", lines.DefaultMax)
	got, skipped := split(0, long+"\n", long+"x\n", "b\n")
	require.Equal(t, []int{len(long), 1}, []int{len(got[0]), len(got[1])})
	require.Len(t, got, 2)
	require.Equal(t, 1, skipped)
}

// An endless line must not fill the memory.
func TestEndlessLine(t *testing.T) {
	piece := bytes.Repeat([]byte("x"), 1<<16)
	s := &lines.Splitter{Max: 1 << 17, Line: func([]byte) { t.Error("a line") }}
	grown := testing.AllocsPerRun(200, func() { _, _ = s.Write(piece) })
	require.Zero(t, grown, "a line over the limit is not kept")
	require.NoError(t, s.Close())
	require.Equal(t, 1, s.Skipped)
}

// A line of one gigabyte costs a scan, and no more memory than the longest line that is kept.
func TestGigabyteLine(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a gigabyte")
	}
	var got []string
	s := &lines.Splitter{Line: func(line []byte) { got = append(got, string(line)) }}
	write := func(p []byte) { _, _ = s.Write(p) }
	write([]byte("before\n{\"type\":\""))
	piece := bytes.Repeat([]byte("x"), 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for range 1 << 10 {
		write(piece)
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	write([]byte("\"}\n{\"type\":\"result\"}\r\nlast"))
	require.NoError(t, s.Close())
	require.Equal(t, []string{"before", `{"type":"result"}`, "last"}, got)
	require.Equal(t, 1, s.Skipped)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*lines.DefaultMax), "all that was ever allocated")
	testtime.Took(t, took, 10*time.Second)
	t.Logf("1 GB in %v, %d KB allocated", took, (after.TotalAlloc-before.TotalAlloc)>>10)
}

func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "a\r\n\r\n", "\n\n", "{\"type\":\"result\"}\n{\"ty", "123456789\nb\n12345678\n"} {
		f.Add([]byte(seed), uint64(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		const limit = 8
		var want []string
		skipped := 0
		for i, line := range bytes.Split(data, []byte("\n")) {
			switch {
			case len(line) > limit:
				skipped++
			case len(line) == 0 && i == bytes.Count(data, []byte("\n")): // after the last line end
			default:
				want = append(want, string(bytes.TrimSuffix(line, []byte("\r"))))
			}
		}
		var pieces []string
		for rest := string(data); rest != ""; {
			seed = seed*6364136223846793005 + 1442695040888963407
			n := min(int(seed>>60), len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		got, gotSkipped := split(limit, pieces...)
		if len(want) != len(got) || skipped != gotSkipped || strings.Join(want, "\n") != strings.Join(got, "\n") {
			t.Fatalf("%q in %q:\nwant %q, %d skipped\ngot  %q, %d skipped", data, pieces, want, skipped, got, gotSkipped)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	data := bytes.Repeat([]byte(strings.Repeat("x", 200)+"\n"), 300)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var w io.Writer = &lines.Splitter{Line: func([]byte) {}}
	for b.Loop() {
		_, _ = w.Write(data)
	}
}
