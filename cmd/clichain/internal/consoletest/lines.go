package consoletest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// LineWriter passes each write to one reader.
type LineWriter chan string

// Write sends data to the reader and waits until the reader has received it.
func (w LineWriter) Write(data []byte) (int, error) {
	w <- string(data)
	return len(data), nil
}

// Patience is longer than any step of these tests takes.
const Patience = 90 * time.Second

// Await returns the first line that contains text. The test fails if none comes within Patience.
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
