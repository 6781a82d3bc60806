package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lineWriter passes on what is written to it, for one reader.
type lineWriter chan string

func (w lineWriter) Write(data []byte) (int, error) {
	w <- string(data)
	return len(data), nil
}

// patience is far above what anything in these tests takes.
const patience = 90 * time.Second

// await returns the first line with that text, and fails after a long while without.
func (w lineWriter) await(t *testing.T, text string) string {
	t.Helper()
	limit := time.After(patience)
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
