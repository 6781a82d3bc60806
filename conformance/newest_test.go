package conformance_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// within returns a request in its own directory of the home.
func (c cli) within(t *testing.T, name, text string) clichain.Request {
	t.Helper()
	dir := filepath.Join(c.home.Dir, name)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	req := c.question(text)
	req.Access, req.Dir = clichain.AccessRead, dir
	return req
}

// The call continues the newest session of its directory, not the newest session of another one.
func TestNewestSessionOfDirectory(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(answered)))
		first, err := c.Complete(t.Context(), c.within(t, "one", asked))
		require.NoError(t, err)
		_, err = c.Complete(t.Context(), c.within(t, "two", "remember quokka-nine"))
		require.NoError(t, err)

		next := c.within(t, "one", "and now?")
		next.Options.Continue = true
		second, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		require.Equal(t, first.Session, second.Session)
		require.Equal(t, first.Usage.OutputTokens, second.Usage.OutputTokens, "usage of one call, not of the session")
		if first.Usage.CostUSD != nil {
			require.InDelta(t, *first.Usage.CostUSD, *second.Usage.CostUSD, 0.1**first.Usage.CostUSD)
		}
		body := string(c.server.Calls()[2].Body)
		require.Contains(t, body, asked)
		require.NotContains(t, body, "quokka")
	})
}

// In a directory without a session, all four CLIs start one.
func TestNewestSessionOfEmptyDirectory(t *testing.T) {
	long(t)
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(answered)))
		next := c.within(t, "none", asked)
		next.Options.Continue = true
		first, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		second, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		require.Equal(t, first.Session, second.Session)
	})
}

// A new session has the ID that the caller chose. The ID is unique, and the next call continues the session by it.
func TestChosenSessionID(t *testing.T) {
	long(t)
	const id = "0199abcd-0000-4000-8000-000000000001"
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(answered)))
		req := c.within(t, "one", asked)
		req.Options.SessionID = id
		if name == home.Codex || name == home.OpenCode {
			starts, err := c.starts(t, req)
			require.ErrorIs(t, err, clichain.ErrUnsupported)
			require.Zero(t, starts)
			return
		}
		first, err := c.Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, handleOf(name, id), first.Session)
		_, err = c.Complete(t.Context(), req)
		require.ErrorIs(t, err, clichain.ErrBadSession, "the ID is in use")
		require.Len(t, c.server.Calls(), 1)

		next := c.within(t, "one", "and now?")
		next.Session = name + ":" + id
		second, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		require.Equal(t, first.Session, second.Session)
		require.Contains(t, string(c.server.Calls()[1].Body), asked)
	})
}

// A session that the user of the CLI started continues by the ID that the CLI shows.
func TestSessionByCLISessionID(t *testing.T) {
	long(t)
	eachCLI(t, func(t *testing.T, name string) {
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(answered)))
		first, err := c.Complete(t.Context(), c.within(t, "one", asked))
		require.NoError(t, err)
		t.Setenv("XDG_STATE_HOME", t.TempDir()) // a state directory without a record of the session
		_, encoded, _ := strings.Cut(first.Session, ".")
		id, err := base64.RawURLEncoding.DecodeString(encoded)
		require.NoError(t, err)

		next := c.within(t, "one", "and now?")
		next.Session = name + ":" + string(id)
		second, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		require.Equal(t, first.Session, second.Session)
		require.Contains(t, string(c.server.Calls()[1].Body), asked)
	})
}
