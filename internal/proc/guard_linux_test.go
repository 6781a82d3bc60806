package proc

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWatchdogThatDoesNotListenIsReplaced(t *testing.T) { // case 84
	w := &watchdog{groups: map[int]stat{}}
	w.ensure()
	t.Cleanup(w.dismiss)
	old := w.process.Pid
	require.NoError(t, w.process.Signal(syscall.SIGSTOP))
	require.NoError(t, w.life.SetWriteDeadline(time.Now().Add(100*time.Millisecond)))
	_, err := w.life.Write(make([]byte, 1<<20)) // fills the pipe
	require.True(t, errors.Is(err, os.ErrDeadlineExceeded))
	w.enter(stat{pid: 1 << 30})
	require.NotEqual(t, old, w.process.Pid)
}

func TestWatchdogLearnsAllGroupsAgain(t *testing.T) {
	group, err := os.StartProcess("/bin/sleep", []string{"sleep", "1000"}, &os.ProcAttr{Sys: &syscall.SysProcAttr{Setpgid: true}})
	require.NoError(t, err)
	s, err := system.stat(group.Pid)
	require.NoError(t, err)
	w := &watchdog{groups: map[int]stat{}}
	w.enter(s)
	require.NoError(t, w.process.Kill())
	_, err = w.process.Wait()
	require.NoError(t, err)
	w.enter(stat{pid: 1 << 30}) // no such group; meets a broken pipe, and so another watchdog is started
	w.leave(stat{pid: 1 << 30})
	require.NoError(t, w.life.Close()) // as if this process had died
	state, err := group.Wait()
	require.NoError(t, err)
	require.Equal(t, syscall.SIGKILL, state.Sys().(syscall.WaitStatus).Signal())
	_, err = w.process.Wait()
	require.NoError(t, err)
}
