package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/landlock"
)

// settings are those of a user with an empty home directory.
func settings(t *testing.T) *Settings {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	require.NoError(t, os.Mkdir(home, 0o700))
	return &Settings{
		Env:     []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "SECRET_TOKEN=hush-hush-hush"},
		Timeout: time.Minute,
	}
}

func sh(script string) []string { return []string{"sh", "-c", script} }

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "check.sh"), []byte("#!/bin/sh\n"), 0o600))
	s := settings(t)
	for _, args := range [][]string{nil, {""}, {"no-such-program"}, {"./check.sh"}, {"./missing"}, {dir}} {
		failed := s.Missing(args, dir)
		require.ErrorIs(t, failed, call.ErrBadOption, "%q", args)
		require.True(t, call.Misconfigured(failed))
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "check.sh"), 0o700))
	for _, args := range [][]string{{"sh"}, {"/bin/sh"}, {"./check.sh", "x"}, {filepath.Join(dir, "check.sh")}} {
		require.Nil(t, s.Missing(args, dir), "%q", args)
	}
}

func TestRunPasses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // calls of other processes come and go in the shared one
	dir, s := t.TempDir(), settings(t)
	script := `test "$(pwd -P)" = "$(cd "$1" && pwd -P)" && test -d "$TMPDIR" && : >"$TMPDIR/x" && test "$NO_COLOR" = 1`
	require.Nil(t, s.Run(t.Context(), append(sh(script), "sh", dir), dir))
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left, "the temporary directory of the check remains")
}

func TestRunWithRelativeTMPDIR(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("temp", 0o700))
	t.Setenv("TMPDIR", "temp")
	require.Nil(t, settings(t).Run(t.Context(), sh(`: >"$TMPDIR/x"`), t.TempDir()))
}

func TestRunRejects(t *testing.T) {
	for name, test := range map[string]struct{ script, message string }{
		"exit code":   {"echo one; echo two; echo three; echo four; exit 3", `exit status 3: two | three | four`},
		"stderr":      {"echo broken >&2; exit 1", "exit status 1: broken"},
		"signal":      {"kill -9 $$", "the signal SIGKILL ended it"},
		"long output": {"seq 1 100000; exit 1", "exit status 1: 99998 | 99999 | 100000"},
		"long lines":  {`head -c 400 /dev/zero | tr '\0' x; echo; echo; echo last; exit 1`, "exit status 1: last"},
		"secret":      {`echo "token $SECRET_TOKEN"; exit 1`, "exit status 1: token [redacted]"},
		"no output":   {"exit 1", "exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			failed := settings(t).Run(t.Context(), sh(test.script), t.TempDir())
			require.ErrorIs(t, failed, call.ErrRejected)
			require.Contains(t, failed.Message, "the check ")
			require.True(t, strings.HasSuffix(failed.Message, test.message), failed.Message)
			require.NotContains(t, failed.Stderr, "hush")
			require.LessOrEqual(t, len(failed.Stderr), maxOutput+100)
		})
	}
}

func TestRunKeepsEndOfOutput(t *testing.T) {
	failed := settings(t).Run(t.Context(), sh("seq 1 100000; exit 1"), t.TempDir())
	require.Regexp(t, `^\[\d+ bytes dropped\]\n`, failed.Stderr)
	require.True(t, strings.HasSuffix(failed.Stderr, "\n100000"))
}

// The output is cut after the redaction, so that no part of a secret remains at the cut.
func TestRunRedactsSecretAtCut(t *testing.T) {
	for _, before := range []int{0, 1 << 20} {
		script := fmt.Sprintf(`head -c %d /dev/zero | tr '\0' y; printf %%s "$SECRET_TOKEN"; head -c %d /dev/zero | tr '\0' x; exit 1`,
			before, maxOutput-len("hush"))
		failed := settings(t).Run(t.Context(), sh(script), t.TempDir())
		require.ErrorIs(t, failed, call.ErrRejected)
		require.NotContains(t, failed.Stderr, "ush")
		require.Greater(t, len(failed.Stderr), maxOutput-100)
	}
}

func TestRunTimeout(t *testing.T) {
	s := settings(t)
	s.Timeout = 200 * time.Millisecond
	failed := s.Run(t.Context(), sh("echo begun; tail -f /dev/null"), t.TempDir())
	require.ErrorIs(t, failed, call.ErrRejected)
	require.Contains(t, failed.Message, "it took longer than 200ms: begun")
}

func TestRunEndsWithCall(t *testing.T) {
	dir := t.TempDir()
	for name, reason := range map[string]call.Reason{"cancel": call.ReasonCanceled, "deadline": call.ReasonTimeout} {
		ctx, cancel := context.WithCancel(t.Context())
		if name == "deadline" {
			ctx, cancel = context.WithTimeout(t.Context(), 300*time.Millisecond)
		} else {
			time.AfterFunc(300*time.Millisecond, cancel)
		}
		failed := settings(t).Run(ctx, sh("tail -f /dev/null"), dir)
		cancel()
		require.NotNil(t, failed)
		require.Equal(t, reason, failed.Reason, "%v", failed)
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, settings(t).Run(ctx, sh("exit 0"), dir), call.ErrCanceled)
	}
}

// A check leaves no process, even if the process started a new session.
func TestRunEndsProcesses(t *testing.T) {
	dir := t.TempDir()
	script := `setsid tail -f /dev/null >/dev/null 2>&1 & echo $! >pid; until kill -0 $(cat pid); do :; done`
	require.Nil(t, settings(t).Run(t.Context(), sh(script), dir))
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	require.NoError(t, err)
	command, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/cmdline") // empty for a zombie
	require.True(t, err != nil || len(command) == 0, "%s", command)
}

func TestRunProgramRemovedByAgent(t *testing.T) {
	failed := settings(t).Run(t.Context(), []string{"./check.sh"}, t.TempDir())
	require.ErrorIs(t, failed, call.ErrRejected)
	require.Contains(t, failed.Message, "does not exist any more")
}

func TestRunConfined(t *testing.T) {
	if _, err := landlock.Usable(); err != nil {
		t.Skip("this system cannot confine programs: ", err)
	}
	s, dir, outside := settings(t), t.TempDir(), t.TempDir()
	home := valueOf(s.Env, "HOME")
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".claude"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".claude", "key"), []byte("x"), 0o600))
	for script, confined := range map[string]bool{
		": >new && rm new && : >$TMPDIR/x":             true,
		": >" + outside + "/a && rm " + outside + "/a": false,
		"cat ~/.claude/key":                            false,
		": >~/new && rm ~/new":                         false,
	} {
		s.Confine = call.ConfineOff
		require.Nil(t, s.Run(t.Context(), sh(script), dir), script)
		for _, s.Confine = range []call.Confinement{"", call.ConfineAuto, call.ConfineRequired} {
			failed := s.Run(t.Context(), sh(script), dir)
			require.Equal(t, confined, failed == nil, "%s: %v", script, failed)
		}
	}
	s.ReadPaths = []string{"/missing"} // an error of the preparation
	for _, s.Confine = range []call.Confinement{"", call.ConfineAuto, call.ConfineRequired} {
		failed := s.Run(t.Context(), sh("exit 0"), dir)
		require.ErrorIs(t, failed, call.ErrUnconfined)
		require.Contains(t, failed.Message, "/missing")
	}
	s.Confine = call.ConfineOff
	require.Nil(t, s.Run(t.Context(), sh("exit 0"), dir))
}
