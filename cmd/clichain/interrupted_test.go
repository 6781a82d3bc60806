package main

import (
	"bufio"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

// TestSignals sends several signals. No process may remain, and the exit code must be that of the first signal.
func TestSignals(t *testing.T) {
	// With nohup, the program and its children would ignore SIGHUP.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	for _, test := range []struct {
		name    string
		kind    string
		signals []os.Signal
		status  int
	}{
		{"Ctrl-C", "stubborn", []os.Signal{os.Interrupt}, 130},
		{"Ctrl-C twice", "stubborn", []os.Signal{os.Interrupt, os.Interrupt}, 130},
		{"Ctrl-C many times", "stubborn", []os.Signal{os.Interrupt, os.Interrupt, os.Interrupt, os.Interrupt, os.Interrupt}, 130},
		{"SIGTERM", "stubborn", []os.Signal{syscall.SIGTERM}, 143},
		{"SIGHUP", "stubborn", []os.Signal{syscall.SIGHUP}, 129},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			path := w.fake("claude", test.kind, "")
			cmd := w.command("ask", "--stream", "hi")
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			line, err := bufio.NewReader(out).ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "started\n", line)
			require.NotEmpty(t, clitest.Survivors(path))
			for _, s := range test.signals {
				require.NoError(t, cmd.Process.Signal(s))
			}
			require.Error(t, cmd.Wait())
			require.Equal(t, test.status, cmd.ProcessState.ExitCode())
			require.Empty(t, clitest.Survivors(path))
		})
	}
}

// TestInterruptedJSON checks that the command prints the failure as JSON.
func TestInterruptedJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "stubborn", "")
	cmd := w.command("ask", "--stream", "--json", "hi")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := bufio.NewReader(out)
	_, err = r.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	require.Contains(t, string(rest), `{"error":{"reason":"canceled"`)
}

// TestDemoInterrupted checks that the demo removes its directory and its processes.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command("demo")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := bufio.NewReader(out)
	for line := ""; !strings.Contains(line, "unauthenticated"); {
		line, err = r.ReadString('\n')
		require.NoError(t, err)
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_, err = io.ReadAll(r)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode())
}
