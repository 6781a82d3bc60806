package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

// A process is killed within a turn. The earlier turns remain, and the session that holds the message.
func TestContinueAfterKill(t *testing.T) {
	t.Parallel()
	c := newChat(t, recorded)
	c.run(0, "one")
	path := c.fake("claude", "await", filepath.Join(c.dir, "never"))
	cmd := c.ask("-c", "--stream", "two")
	cmd.Env = append(cmd.Env, "TMPDIR="+t.TempDir()) // a killed process cannot remove its temporary files
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "started\n", line)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	_, file := c.stored()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(data), `"content":"two"`)
	require.Contains(t, string(data), `"interrupted":true`)
	require.Eventually(t, func() bool { return len(clitest.Survivors(path)) == 0 }, time.Minute, 5*time.Millisecond)

	c.says("claude", "from claude")
	c.run(0, "-c", "two")
	stdin, args := c.got("claude")
	require.Contains(t, args, "--resume "+claudeSession)
	require.Contains(t, stdin, "did not arrive")
	c.run(0, "-c", "--only", "codex", "three")
	stdin, _ = c.got("codex")
	require.Regexp(t, `(?s)one.*from claude.*two.*from claude.*three`, stdin)
	require.Equal(t, 1, strings.Count(stdin, "two"))
}

// Two calls continue the same conversation. The second waits, and reports an error if that takes too long.
func TestContinueTwice(t *testing.T) {
	t.Parallel()
	c := newChat(t, recorded)
	c.run(0, "one")
	open := filepath.Join(t.TempDir(), "open")
	c.fake("claude", "await", open)
	first := c.ask("-c", "--stream", "two")
	out, err := first.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, first.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "started\n", line)
	_, errs := c.run(124, "-c", "--budget", "100ms", "three")
	require.Contains(t, errs, `another "clichain ask --continue" in this directory has not ended within 100ms`)

	second := c.ask("-c", "--only", "codex", "three")
	said, err := second.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, second.Start())
	line, err = bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "clichain: waiting for another \"clichain ask --continue\" in this directory\n", line)
	require.NoError(t, os.WriteFile(open, nil, 0o600))
	require.NoError(t, first.Wait())
	require.NoError(t, second.Wait())
	stdin, _ := c.got("codex")
	require.Regexp(t, `(?s)one.*two.*answered at last.*three`, stdin)
}

// A record that cannot be used is an error of --continue only. A new conversation replaces it.
func TestContinueWithDamagedRecord(t *testing.T) {
	t.Parallel()
	c := newChat(t, recorded)
	c.run(0, "one")
	_, path := c.stored()
	target := filepath.Join(t.TempDir(), "target")
	for name, test := range map[string]struct {
		damage func() error
		says   string
	}{
		"half":          {func() error { return os.Truncate(path, 20) }, "it is not a valid entry"},
		"other version": {func() error { return os.WriteFile(path, []byte(`{"version":7}`), 0o600) }, "it has version 7"},
		"link": {func() error {
			require.NoError(t, os.Rename(path, target))
			return os.Symlink(target, path)
		}, "the record cannot be read"},
	} {
		require.NoError(t, test.damage(), name)
		_, errs := c.run(1, "-c", "two")
		require.Contains(t, errs, test.says)
		require.Contains(t, errs, path)
		require.Contains(t, errs, "remove the file, or ask without --continue")
		c.run(1, "-c", "--access", "write", "two")
		c.run(0, "one again")
		_, errs = c.run(0, "-c", "two")
		require.Empty(t, errs)
	}
}

// An answer that cannot be stored is printed, with a warning.
func TestAnswerThatCannotBeStored(t *testing.T) {
	t.Parallel()
	c := newChat(t, recorded)
	c.run(0, "one")
	_, path := c.stored()
	lock := filepath.Join(filepath.Dir(path), filepath.Base(path)[:3]+".lock")
	require.NoError(t, os.Remove(lock))
	require.NoError(t, os.Mkdir(lock, 0o700))
	out, errs := c.run(0, "-c", "two")
	require.Equal(t, "from claude\n", out)
	require.Contains(t, errs, "clichain: warning: --continue will not know this answer: conversation: ")
	_, args := c.got("claude")
	require.Contains(t, args, "--resume")
	require.NoError(t, os.Remove(lock))
	require.NoError(t, os.Mkdir(path+".new", 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(path+".new", "full"), nil, 0o600))
	out, errs = c.run(0, "-c", "two")
	require.Equal(t, "from claude\n", out)
	require.Contains(t, errs, "the record cannot be written")
	out, errs = c.run(0, "-c", "--json", "two")
	require.Contains(t, out, `"text":"from claude"`)
	require.Empty(t, errs)

	above := filepath.Dir(path)
	require.NoError(t, os.RemoveAll(above))
	require.NoError(t, os.WriteFile(above, nil, 0o600))
	out, errs = c.run(0, "--record", "two")
	require.Equal(t, "from claude\n", out)
	require.Contains(t, errs, "is not a directory: move it away")
	_, errs = c.run(1, "-c", "two")
	require.Contains(t, errs, "is not a directory: move it away")
	c.env = nil
	out, errs = c.run(0, "two")
	require.Equal(t, "from claude\n", out)
	require.Empty(t, errs, "an unrecorded conversation needs no warning")
}

// A recorded question is checked like any other.
func TestRecordRejectsInvalidText(t *testing.T) {
	t.Parallel()
	c := newChat(t, recorded)
	for _, args := range [][]string{{"ask"}, {"ask", "--no-cooldown", "--record=false"}} {
		cmd := c.command(args...)
		cmd.Dir, cmd.Stdin = c.dir, strings.NewReader("a\x00b")
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, 2, cmd.ProcessState.ExitCode())
		require.Equal(t, "clichain: bad_request (PROMPT): NUL byte at offset 1: remove it\n", string(out))
	}
	all, _ := c.stored()
	require.NotContains(t, all, "offset")
}
