//go:build unix

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// On a terminal, the command shows the patch and asks.
func TestWorkAsksOnTerminal(t *testing.T) {
	for name, test := range map[string]struct{ answer, code string }{
		"yes": {"y\n", "new\n"}, "no": {"n\n", "old\n"}, "empty line": {"\n", "old\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkplace(t)
			w.fake("claude", "write", "code=new")
			cmd := w.command("work", "Change it")
			cmd.Dir, cmd.Env = w.dir, append(cmd.Env, "TERM=xterm")
			s := onScreen(t, cmd, 120)
			s.await(`\[y/N\]`)
			_, err := s.tty.WriteString(test.answer)
			require.NoError(t, err)
			text, raw := s.end(0)
			require.Contains(t, text, "+new")
			require.Contains(t, raw, "\x1b[32m+new\x1b[0m")
			require.Equal(t, test.code, w.code())
		})
	}
}

// Ctrl-C at the question applies nothing, and has the exit code of a signal.
func TestWorkInterruptedAtQuestion(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "code=new")
	cmd := w.command("work", "Change it")
	cmd.Dir, cmd.Env = w.dir, append(cmd.Env, "TERM=xterm")
	s := onScreen(t, cmd, 120)
	s.await(`\[y/N\]`)
	_, err := s.tty.WriteString("\x03")
	require.NoError(t, err)
	s.end(130)
	require.Equal(t, "old\n", w.code())
}
