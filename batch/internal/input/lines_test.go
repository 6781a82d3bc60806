package input

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestReadLines(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, test := range []struct {
		name, input string
		want        []Line
	}{
		{"empty", "", nil},
		{"blank lines", "\n \n\t\r\n", nil},
		{"blank lines between lines", "a\n\n b\nc", []Line{{1, []byte("a"), false, nil}, {3, []byte(" b"), false, nil}, {4, []byte("c"), false, nil}}},
		{"CRLF and a byte order mark", "\ufeffa\r\nb\r\n", []Line{{1, []byte("a"), false, nil}, {2, []byte("b"), false, nil}}},
		{"longest valid line", long[:1000] + "\n", []Line{{1, []byte(long[:1000]), false, nil}}},
		{"too long line", "a\n" + long + "\nb\n", []Line{{1, []byte("a"), false, nil}, {2, []byte(long[:1000]), true, nil}, {3, []byte("b"), false, nil}}},
		{"too long last line", long, []Line{{1, []byte(long[:1000]), true, nil}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(test.input), "in pieces": iotest.HalfReader(strings.NewReader(test.input)),
			} {
				var got []Line
				for line, err := range readLines(r, 1000) {
					require.NoError(t, err)
					line.Text = []byte(string(line.Text)) // Text is only valid until the next iteration
					if line.Long {
						line.Text = line.Text[:1000]
					}
					got = append(got, line)
				}
				require.Equal(t, test.want, got, name)
			}
		})
	}
}

func TestReadLinesReportsReadError(t *testing.T) {
	broken := errors.New("broken")
	var last error
	for _, err := range readLines(io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)), 10) {
		last = err
	}
	require.ErrorIs(t, last, broken)
}

func TestCountLines(t *testing.T) {
	n, whole := countLines(strings.NewReader("a\n\n"+strings.Repeat("x", 5000)+"\nb"), func() bool { return false })
	require.True(t, whole)
	require.Equal(t, 3, n)
	_, whole = countLines(strings.NewReader("a\n"), func() bool { return true })
	require.False(t, whole)
}
