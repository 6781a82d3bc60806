package proc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Where in doubt the first process is left to its work.
func TestDeaf(t *testing.T) {
	const quiet = "Name:\ttail\nThreads:\t1\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\n"
	for name, test := range map[string]struct {
		status string
		want   bool
	}{
		"tail":            {quiet, true},
		"other signals":   {"Name:\tperl\nThreads:\t1\nSigIgn:\t0000000000001000\nSigCgt:\t00000000000004e8\n", true},
		"a shell":         {"Name:\tsh\nThreads:\t1\nSigCgt:\t0000000000000000\n", false},
		"threads":         {"Name:\tjava\nThreads:\t30\nSigCgt:\t0000000000000000\n", false},
		"handles":         {"Name:\tnode\nThreads:\t1\nSigCgt:\t0000000000010000\n", false},
		"ignores":         {"Name:\tx\nThreads:\t1\nSigIgn:\t0000000000010000\n", false},
		"waits for it":    {"Name:\ttini\nThreads:\t1\nSigBlk:\t0000000000010000\n", false},
		"unreadable mask": {"Name:\tx\nThreads:\t1\nSigBlk:\tmuch\n", false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, deaf(test.status)) })
	}
}
