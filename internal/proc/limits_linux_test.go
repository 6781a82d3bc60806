package proc

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestWithoutProc(t *testing.T) { // case 73
	child := fake.Spawn{Steps: []fake.Step{{Hang: true}}, HoldStdout: true}
	path := fake.New(t, "fake", fake.Scenario{Steps: []fake.Step{{Spawn: &child}, {Stdout: "ready"}, {Hang: true}}})
	_, err := Run(t.Context(), Command{Path: "/bin/true"}) // starts the permanent resources
	require.NoError(t, err)
	fake.NoLeaks(t)
	before := system
	system = &procfs{root: "/nowhere"}
	defer func() { system = before }()

	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("cause")
	begin := time.Now()
	result, err := Run(ctx, Command{Path: path, Grace: -1, Stdout: writerFunc(func() { cancel(cause) })})
	require.NoError(t, err)
	testtime.Within(t, begin, 15*time.Second)
	require.Equal(t, cause, result.Cause)
	require.Equal(t, "SIGKILL", result.Signal)
	require.False(t, result.TreeClean, "the state of the tree is unknown")
	require.False(t, result.DrainCut)
	require.Empty(t, fake.Survivors(path), "the group is killed")
}

// writerFunc is a Writer that calls the function.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) { f(); return len(p), nil }

func TestSmallPipes(t *testing.T) { // case 40
	input := bytes.Repeat([]byte("0123456789abcde\n"), 20_000)
	path := fake.New(t, "fake", fake.Scenario{Steps: []fake.Step{
		{FloodStderr: int64(len(input))}, {ReadStdin: true}, {Echo: true},
	}})
	c := Command{Path: path, Stdin: input}.withDefaults()
	s, err := openStreams(c)
	require.NoError(t, err)
	for _, end := range s.child {
		conn, err := end.SyscallConn()
		require.NoError(t, err)
		require.NoError(t, conn.Control(func(fd uintptr) {
			_, err = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 4096)
		}))
		require.NoError(t, err)
	}
	r := run{command: c, streams: s}
	r.tree, err = start(c, s.child[:])
	require.NoError(t, err)
	s.closeChildEnds()
	result := r.supervise(t.Context())
	require.NoError(t, result.Cause)
	require.False(t, result.Undelivered)
	require.EqualValues(t, len(input), result.Stdout.Total)
	require.EqualValues(t, len(input), result.Stderr.Total)
}
