package proc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// In doubt, process 1 is assumed to reap.
func TestCannotReap(t *testing.T) {
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
		"blocks":          {"Name:\ttini\nThreads:\t1\nSigBlk:\t0000000000010000\n", false},
		"unreadable mask": {"Name:\tx\nThreads:\t1\nSigBlk:\tmuch\n", false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, cannotReap(test.status)) })
	}
}

// If process 1 can reap, the remains of an earlier run show whether it does.
func TestInheritanceNeeded(t *testing.T) {
	now := time.Now()
	zombie := stat{pid: 7, parent: 1, start: 100, state: 'Z', threads: 1}
	of := func(change func(*stat)) stat { s := zombie; change(&s); return s }
	for name, test := range map[string]struct {
		left  stat
		is    stat
		after time.Duration
		want  bool
	}{
		"not reaped":        {zombie, zombie, reapDelay + 1, true},
		"too early":         {zombie, zombie, reapDelay, false},
		"reaped, ID reused": {zombie, of(func(s *stat) { s.start++ }), reapDelay + 1, false},
		"another's child":   {of(func(s *stat) { s.parent = 9 }), zombie, reapDelay + 1, false},
		"alive":             {of(func(s *stat) { s.state = 'S' }), zombie, reapDelay + 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := &inheritance{cannotReap: func() bool { return false }, stat: func(int) (stat, error) { return test.is, nil }}
			require.False(t, h.needed(now))
			h.note([]stat{test.left}, now)
			require.Equal(t, test.want, h.needed(now.Add(test.after)))
			require.Equal(t, test.want, h.needed(now.Add(time.Hour)) && test.after > reapDelay, "the result stays the same")
		})
	}
}
