package consoletest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// LineWriter passes on what is written to it, for one reader.
type LineWriter chan string

// Write sends data to the reader and waits until the reader has received it.
func (w LineWriter) Write(data []byte) (int, error) {
	w <- string(data)
	return len(data), nil
}

// Patience is far above what anything in these tests takes.
const Patience = 90 * time.Second

// Await returns the first line with that text, and fails after a long while without.
func (w LineWriter) Await(t *testing.T, text string) string {
	t.Helper()
	limit := time.After(Patience)
	var seen []string
	for {
		select {
		case line, ok := <-w:
			if strings.Contains(line, text) {
				return line
			}
			if !ok {
				require.FailNow(t, "no line has "+text, "%s", strings.Join(seen, "\n"))
			}
			seen = append(seen, line)
		case <-limit:
			require.FailNow(t, "no line has "+text, "%s", strings.Join(seen, "\n"))
		}
	}
}
