package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/stretchr/testify/require"
)

const recorded = "CLICHAIN_CONVERSATIONS=on"

// Without a record, the session of the last answer continues, in plain questions and with stdin, and no text is stored.
func TestContinueResumesTheSession(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	_, errs := c.run(2, "-c", "and?")
	require.Equal(t, "clichain: --continue: no conversation of this directory is known: ask without --continue first\n", errs)
	c.run(0, "the first question")
	cmd := c.command("ask", "-c")
	cmd.Dir, cmd.Stdin = c.dir, strings.NewReader("the second question")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "from claude\n", string(out))
	stdin, args := c.got("claude")
	require.Equal(t, "the second question", stdin)
	require.Contains(t, args, "--resume "+claudeSession)
	all, path := c.stored()
	require.NotEmpty(t, path)
	require.NotContains(t, all, "question")
	require.NotContains(t, all, "from claude")

	c.fake("claude", "loggedout", "")
	_, errs = c.run(1, "-c", "a third question")
	require.Regexp(t, `codex +unsupported \(--session\)`, errs)
	c.says("claude", "from claude")
	c.dir = t.TempDir()
	c.run(2, "-c", "in another directory")
	c.run(2, "-c", "--session", "claude:"+claudeSession, "both")
}

// A recorded conversation continues with the next backend, which gets the earlier messages.
func TestContinueHandsOver(t *testing.T) {
	t.Parallel()
	c := newChat(t, recorded)
	c.run(0, "one")
	c.fake("claude", "loggedout", "")
	out, errs := c.run(0, "-c", "two")
	require.Equal(t, "from codex\n", out)
	require.Equal(t, "clichain: codex: warning: the conversation was handed over from claude to codex, "+
		"because claude did not answer: unauthenticated\n", errs)
	stdin, _ := c.got("codex")
	require.Regexp(t, `(?s)one.*from claude.*two`, stdin)
	out, errs = c.run(0, "-c", "--stream", "three")
	require.Equal(t, "from codex\n", out)
	require.Empty(t, errs)
	stdin, args := c.got("codex")
	require.Equal(t, "three", stdin)
	require.Contains(t, args, codexSession)

	c.says("claude", "from claude")
	out, errs = c.run(0, "-c", "--json", "--only", "claude", "four")
	require.Empty(t, errs)
	var resp clichain.Response
	require.NoError(t, json.Unmarshal([]byte(out), &resp))
	require.Equal(t, "codex", resp.HandedOver)
	require.Contains(t, resp.Flags, call.FlagHandedOver)
	require.Contains(t, resp.Warnings[0], "because codex was not asked")
	stdin, _ = c.got("claude")
	require.Regexp(t, `(?s)two.*from codex.*three.*from codex.*four`, stdin)
	require.NotContains(t, c.lastBuild(), "from codex", "build shows the command with the session")
}

// lastBuild returns the output of "clichain build --continue".
func (c *chat) lastBuild() string {
	cmd := c.command("build", "--only", "claude", "--no-stdin", "-c", "five")
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, "%s", out)
	require.Contains(c.t, string(out), claudeSession)
	return string(out)
}

// --record begins a record, which --continue keeps and --record=false removes.
func TestRecordFlag(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.run(0, "unrecorded")
	_, errs := c.run(0, "-c", "--record", "too late")
	require.Contains(t, errs, "the beginning of this conversation was not recorded, so only its backend can continue it")
	all, _ := c.stored()
	require.NotContains(t, all, "too late")
	c.run(0, "--record", "first")
	_, errs = c.run(0, "-c", "second")
	require.Empty(t, errs)
	all, _ = c.stored()
	require.Contains(t, all, "first")
	require.Contains(t, all, "second")
	before, path := c.stored()
	c.run(0, "-c", "--no-session", "an aside")
	after, _ := c.stored()
	require.Equal(t, before, after)
	c.env = []string{"CLICHAIN_CONVERSATIONS=off"}
	c.run(0, "-c", "third")
	all, again := c.stored()
	require.Equal(t, path, again)
	require.NotContains(t, all, "first")
	_, args := c.got("claude")
	require.Contains(t, args, "--resume")
	c.env = []string{recorded}
	c.run(0, "--record=false", "private")
	c.run(0, "--no-session", "private")
	all, _ = c.stored()
	require.NotContains(t, all, "private")

	c.run(2, "--record=maybe", "x")
	c.env = []string{"CLICHAIN_CONVERSATIONS_AGE=5m"}
	_, errs = c.run(2, "x")
	require.Equal(t, "clichain: CLICHAIN_CONVERSATIONS_AGE: is 5m0s: use at least 1h0m0s\n", errs)
	c.env = []string{"CLICHAIN_CONVERSATIONS=yes"}
	_, errs = c.run(2, "x")
	require.Contains(t, errs, `CLICHAIN_CONVERSATIONS="yes": use one of ["on" "off"]`)
}

// Calls with access have their own sessions. Without a conversation, the newest session of the CLI continues.
func TestContinueWithAccess(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.run(0, "-c", "--access", "read", "--only", "claude", "hi")
	_, args := c.got("claude")
	require.Contains(t, args, "--continue")
	c.run(0, "-c", "--access", "write", "hi")
	_, args = c.got("claude")
	require.Contains(t, args, "--resume "+claudeSession)
	require.NotContains(t, args, "--continue")
	_, errs := c.run(2, "-c", "hi")
	require.Contains(t, errs, "needs the same --access: use it, or begin a conversation with --record")
	c.run(0, "-c", "--access", "read", "--dir", c.dir, "hi")

	c.env = []string{recorded}
	c.run(0, "plain question")
	out, errs := c.run(0, "-c", "--access", "write", "do it")
	require.Equal(t, "from claude\n", out)
	require.Empty(t, errs)
	stdin, args := c.got("claude")
	require.Contains(t, stdin, "plain question")
	require.NotContains(t, args, "--resume")
	c.fake("claude", "write", "new.go=x")
	c.run(0, "-c", "--access", "write", "do more")
	require.FileExists(t, filepath.Join(c.dir, "new.go"))
}

func TestRecordHasNoSecrets(t *testing.T) {
	t.Parallel()
	c := newChat(t, recorded, "MY_API_KEY=correct-horse-battery-9")
	c.says("claude", "your key is correct-horse-battery-9")
	c.run(0, "what is correct-horse-battery-9?")
	c.run(0, "-c", "--env", "JOB_TOKEN=staple-of-the-job-7", "--access", "read", "and staple-of-the-job-7?")
	all, _ := c.stored()
	require.Contains(t, all, "your key is [redacted]")
	require.Contains(t, all, "and [redacted]?")
	require.NotContains(t, all, "battery")
	require.NotContains(t, all, "staple")
}

// The size of a record is limited, not that of a question.
func TestRecordIsLimited(t *testing.T) {
	t.Parallel()
	c := newChat(t, recorded)
	for _, question := range []string{strings.Repeat("x", 300_000), "two", "three"} {
		cmd := c.command("ask", "--record", "-c")
		if question[0] == 'x' {
			cmd = c.command("ask")
		}
		cmd.Dir, cmd.Stdin = c.dir, strings.NewReader(question)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	_, path := c.stored()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(100_000))
	require.Zero(t, info.Mode().Perm()&0o077)
	c.run(0, "-c", "--only", "codex", "four")
	stdin, _ := c.got("codex")
	require.Contains(t, stdin, "messages of this conversation are left out")
}

func TestShortFlags(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	_, errs := c.run(0, "-m", "opus", "-s", "Be brief.", "-v", "hi")
	require.Regexp(t, `^clichain: to go on from here: --session claude\.[A-Za-z0-9]+\n$`, errs)
	_, args := c.got("claude")
	require.Contains(t, args, "--model opus")
	_, errs = c.run(0, "-c", "hi")
	require.Empty(t, errs)
}
