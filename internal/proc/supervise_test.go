package proc

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeTree is a tree that starts no process; only time passes.
type fakeTree struct {
	done   chan struct{}
	once   sync.Once
	diesOf map[softSignal]time.Duration // time until it ends after a signal
	stuck  bool                         // the program cannot be killed
	asked  []softSignal
	notes  int
	reaps  int
	swept  swept
}

func (t *fakeTree) exit()                   { t.once.Do(func() { close(t.done) }) }
func (t *fakeTree) pid() int                { return 42 }
func (t *fakeTree) exited() <-chan struct{} { return t.done }
func (t *fakeTree) remember()               { t.notes++ }
func (t *fakeTree) reap() status            { t.reaps++; return status{code: 7} }

func (t *fakeTree) ask(s softSignal) {
	t.asked = append(t.asked, s)
	if delay, ok := t.diesOf[s]; ok {
		time.AfterFunc(delay, t.exit)
	}
}

func (t *fakeTree) sweep(patience time.Duration) swept {
	if t.stuck {
		time.Sleep(patience)
		return swept{}
	}
	t.exit()
	return t.swept
}

// supervised runs the state machine on a fake tree with streams that have ended, and returns the time that it
// took.
func supervised(t *testing.T, ctx context.Context, c Command, f *fakeTree) (Result, time.Duration) {
	t.Helper()
	f.done = make(chan struct{})
	s, err := openStreams(c)
	require.NoError(t, err)
	s.closeChildEnds()
	r := run{command: c.withDefaults(), tree: f, streams: s, result: Result{Started: time.Now()}}
	begin := time.Now()
	return r.supervise(ctx), time.Since(begin)
}

func TestEscalation(t *testing.T) {
	both := []softSignal{interrupt, terminate}
	for _, test := range []struct {
		name      string
		diesOf    map[softSignal]time.Duration
		grace     time.Duration
		kill      time.Duration // when Kill is closed, 0 for never
		took      time.Duration
		asked     []softSignal
		escalated bool
	}{
		{name: "at once", diesOf: map[softSignal]time.Duration{interrupt: 0}, asked: both[:1]},
		{name: "just in time", diesOf: map[softSignal]time.Duration{interrupt: 999 * time.Millisecond}, took: 999 * time.Millisecond, asked: both[:1]},
		{name: "second signal", diesOf: map[softSignal]time.Duration{terminate: 500 * time.Millisecond}, took: 1500 * time.Millisecond, asked: both},
		{name: "never", took: 2 * time.Second, asked: both, escalated: true},
		{name: "longer grace", grace: time.Minute, took: 2 * time.Minute, asked: both, escalated: true},
		{name: "no grace", grace: -1, escalated: true},
		{name: "killed in the first grace", grace: time.Minute, kill: time.Second, took: time.Second, asked: both[:1], escalated: true},
		{name: "killed in the second grace", grace: time.Minute, kill: 90 * time.Second, took: 90 * time.Second, asked: both, escalated: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cause := errors.New("cause")
				ctx, cancel := context.WithCancelCause(t.Context())
				cancel(cause)
				kill := make(chan struct{})
				if test.kill > 0 {
					time.AfterFunc(test.kill, func() { close(kill) })
				}
				f := &fakeTree{diesOf: test.diesOf, swept: swept{clean: true, leftovers: 3}}
				result, took := supervised(t, ctx, Command{Grace: test.grace, Kill: kill}, f)
				require.Equal(t, cause, result.Cause)
				require.Equal(t, test.took, took)
				require.Equal(t, test.asked, f.asked)
				require.Equal(t, test.escalated, result.Escalated)
				require.Positive(t, f.notes, "remember was called before the first signal")
				require.Equal(t, 1, f.reaps)
				require.Equal(t, 7, result.ExitCode)
				require.True(t, result.TreeClean)
				require.Equal(t, 3, result.Leftovers)
			})
		})
	}
}

func TestProgramThatCannotDie(t *testing.T) { // case 74
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		f := &fakeTree{stuck: true}
		result, took := supervised(t, ctx, Command{}, f)
		require.Equal(t, 2*time.Second+5*time.Second+reapTimeout, took, "grace periods, teardown and reapTimeout")
		require.False(t, result.TreeClean)
		require.Equal(t, -1, result.ExitCode)
		require.Zero(t, f.reaps)
		f.exit() // the program finally ends
		synctest.Wait()
		require.Equal(t, 1, f.reaps)
	})
}

func TestStatusTakenByOtherCode(t *testing.T) { // case 83
	synctest.Test(t, func(t *testing.T) {
		f := &lostTree{}
		f.done = make(chan struct{})
		s, err := openStreams(Command{})
		require.NoError(t, err)
		s.closeChildEnds()
		f.exit()
		r := run{command: Command{}.withDefaults(), tree: f, streams: s}
		require.Equal(t, ErrReapLost, r.supervise(t.Context()).Cause)
	})
}

type lostTree struct{ fakeTree }

func (*lostTree) reap() status { return status{code: -1, lost: true} }
