package conformance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// pi appends its directory to the system text.
func TestPiAnswers(t *testing.T) {
	long(t)
	q := answersLean(t, home.Pi, 600)
	require.Regexp(t, `^Answer in French\.\n\n<cwd>\n\S+\n</cwd>$`, q.System())
}

// pi exits with 0 after an error. The call must still fail.
func TestPiFails(t *testing.T) { fails(t, home.Pi, everyFailure(home.Pi)) }

func TestPiContinuesSession(t *testing.T) { continuesSession(t, home.Pi) }

// pi has no permissions. An extension of the library keeps it in its directory.
func TestPiAccess(t *testing.T) {
	long(t)
	checksAccess(t, home.Pi, toolReplies{
		read: func(path string) loopback.Reply { return loopback.Tool("read", map[string]any{"path": path}) },
		write: func(path string) loopback.Reply {
			return loopback.Tool("write", map[string]any{"path": path, "content": "x"})
		},
		run: func(command string) loopback.Reply { return shell(home.Pi, command) },
	})
}

// pi must not write through a link out of its directory, neither to an existing file nor to a new one.
func TestPiStaysInDirectory(t *testing.T) {
	long(t)
	writes := func(path string) loopback.Reply {
		return loopback.Tool("write", map[string]any{"path": path, "content": "planted"})
	}
	names := []string{"out/new.txt", "out/there.txt", "there.txt", "nowhere.txt", "~/new.txt", "@../new.txt", "sub/../../new.txt", "a\u00a0b/new.txt"}
	var replies []loopback.Reply
	for _, name := range names {
		replies = append(replies, writes(name))
	}
	c := start(t, home.Pi, home.LoggedIn, flagsOnly, loopback.InOrder(append(replies, writes("sub/in.txt"), loopback.Text(hello))...))
	c.home.Write(t, "elsewhere/there.txt", "The sky is orange.\n")
	for link, to := range map[string]string{"out": "elsewhere", "a b": "elsewhere", "there.txt": "elsewhere/there.txt", "nowhere.txt": "elsewhere/nowhere.txt"} {
		require.NoError(t, os.Symlink(filepath.Join(c.home.Dir, to), filepath.Join(c.home.Work, link)))
	}
	before := holding(t, c.home.Work, "planted")
	_, err := c.Complete(t.Context(), c.askIn(clichain.AccessWrite, "go on"))
	require.NoError(t, err)
	require.Len(t, c.server.Calls(), len(names)+2)
	require.Empty(t, before)
	require.Equal(t, []string{filepath.Join(c.home.Work, "sub", "in.txt")}, holding(t, c.home.Work, "planted"))
	require.Empty(t, holding(t, filepath.Join(c.home.Dir, "elsewhere"), "planted"))
	require.NoFileExists(t, filepath.Join(c.home.Dir, "new.txt"))
}

// Without the library's options, pi prints the whole previous text twice with each piece, 200 MB for this answer.
func TestPiPrintsALongAnswerOnce(t *testing.T) {
	long(t)
	cfg, text := longTimeout, strings.Repeat("eight b ", 5_000)
	cfg.MaxOutput = 16 << 20
	c := start(t, home.Pi, home.LoggedIn, cfg, loopback.Always(loopback.Text(text)))
	resp, err := c.Complete(t.Context(), clichain.Prompt("go on"))
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(text), strings.TrimSpace(resp.Text))
}

// When pi restarts a truncated answer, the stream resets its text.
func TestPiResetsTruncatedAnswer(t *testing.T) {
	long(t)
	half := loopback.Truncate(loopback.Text("This is half an"))
	c := start(t, home.Pi, home.LoggedIn, longTimeout, loopback.InOrder(half, loopback.Text(hello)))
	var text strings.Builder
	resets := 0
	for e, err := range c.Stream(t.Context(), clichain.Prompt("say hi")) {
		require.NoError(t, err)
		switch e.Kind {
		case call.EventReset:
			resets++
			text.Reset()
		case call.EventDelta, call.EventText:
			text.WriteString(e.Text)
		}
	}
	require.Equal(t, hello, text.String())
	require.Equal(t, 1, resets)
}
