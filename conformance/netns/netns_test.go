package netns

import (
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestOnlyLoopbackIsUp(t *testing.T) {
	Require(t)
	interfaces, err := net.Interfaces()
	require.NoError(t, err)
	var up []string
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 {
			up = append(up, i.Name)
		}
	}
	require.Equal(t, []string{"lo"}, up)
	require.NoError(t, LoopbackOnly())
}

func TestOnlyLoopbackIsReachable(t *testing.T) {
	Require(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	conn, err := net.DialTimeout("tcp", listener.Addr().String(), time.Minute)
	require.NoError(t, err)
	require.NoError(t, conn.Close())

	// Addresses for documentation and an outside resolver must be unreachable at once, not after a timeout.
	for _, address := range []string{"192.0.2.1:443", "[2001:db8::1]:443", "198.51.100.7:53"} {
		_, err = net.DialTimeout("tcp", address, time.Minute)
		require.ErrorContains(t, err, "unreachable", address)
	}
}

type skipped struct {
	why    string
	failed bool
}

func (*skipped) Helper()                          {}
func (s *skipped) Skipf(format string, a ...any)  { s.why = fmt.Sprintf(format, a...) }
func (s *skipped) Fatalf(format string, a ...any) { s.failed = true }

func TestRequireReportsReasonOfSkip(t *testing.T) {
	before := reason
	t.Cleanup(func() { reason = before })
	t.Setenv(Variable, "")

	reason = errOutside // the state at the start of a test binary
	var s skipped
	Require(&s)
	require.Contains(t, s.why, "call netns.Main in TestMain")

	reason = errors.New("operation not permitted")
	Require(&s)
	require.Equal(t, "no isolated network: operation not permitted", s.why)

	t.Setenv(Variable, "required")
	Require(&s)
	require.True(t, s.failed, "a required test must not be skipped")

	reason = nil
	s = skipped{}
	Require(&s)
	require.Empty(t, s.why)
}

type runner func() int

func (r runner) Run() int { return r() }

func TestTheInnerBinaryRunsTheTests(t *testing.T) {
	Require(t) // inside the namespace the marker is set, so Main does not start again
	require.Equal(t, 7, Main(runner(func() int { return 7 })))
	require.NoError(t, reason)
}
