package conformance_test

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/specs"
)

// These texts do not occur in the CLIs' own texts.
const (
	asked    = "remember zyzzyva-one"
	answered = "noted vermilion-two"
)

// The second call sends the first prompt and answer to the model and returns the same session.
func TestSessionContinues(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, loopback.InOrder(loopback.Text(answered), loopback.Text(hello)))
		first, err := c.Complete(t.Context(), c.question(asked))
		require.NoError(t, err)
		require.Regexp(t, "^"+regexp.QuoteMeta(name)+"\\.[A-Za-z0-9_-]+$", first.Session, "the handle contains neither path nor usage")

		next := clichain.Prompt("and now?") // the record contains its directory
		next.Session, next.Model = first.Session, models[name]
		second, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		require.Equal(t, hello, second.Text)
		require.Equal(t, first.Session, second.Session)
		require.Equal(t, first.Usage.OutputTokens, second.Usage.OutputTokens, "usage of one call, not of the session")
		if first.Usage.CostUSD != nil {
			require.InDelta(t, *first.Usage.CostUSD, *second.Usage.CostUSD, 0.1**first.Usage.CostUSD)
		}
		calls := c.server.Calls()
		require.Len(t, calls, 2)
		require.Contains(t, string(calls[1].Body), asked)
		for _, word := range strings.Fields(answered) { // some APIs get the answer in the pieces that they sent
			require.Contains(t, string(calls[1].Body), word)
		}
	})
}

// A CLI must not answer without the session that the call names.
func TestUnknownSession(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, nil)
		req := c.question("and now?")
		req.Session = handleOf(name, unknownSessions[name])
		_, err := c.Complete(t.Context(), req)
		require.ErrorIs(t, err, clichain.ErrBadSession)
		require.Empty(t, c.server.Calls(), "the CLI called the model")
	})
}

// clichain rejects an impossible session ID before it starts the CLI. A CLI would ignore some of these IDs and start
// a new session.
func TestInvalidSessionID(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, nil)
		type handle struct {
			session string
			want    error
		}
		tests := map[string]handle{
			"a title":                    {handleOf(name, "not-an-id"), clichain.ErrBadSession},
			"a path":                     {handleOf(name, "../../x"), clichain.ErrBadSession},
			"a flag":                     {handleOf(name, "--help"), clichain.ErrBadSession},
			"no ID":                      {name + ".", clichain.ErrBadSession},
			"no handle":                  {unknownSessions[name], clichain.ErrBadSession},
			"a plain ID":                 {name + "." + unknownSessions[name], clichain.ErrBadSession},
			"a handle of another CLI":    {handleOf("lumen", unknownSessions[name]), clichain.ErrUnsupported},
			"with a directory":           {handleOf(name, unknownSessions[name]) + "@" + c.home.Work, clichain.ErrBadSession},
			"with a directory in the ID": {handleOf(name, unknownSessions[name]+"@"+c.home.Work), clichain.ErrBadSession},
		}
		if spec, _ := specs.ByName(name); spec.Sessions.DirBound {
			tests["no record of the directory"] = handle{handleOf(name, unknownSessions[name]), clichain.ErrBadSession}
		}
		for label, test := range tests {
			req := clichain.Prompt("and now?")
			req.Session, req.Access = test.session, clichain.AccessRead
			starts, err := c.starts(t, req)
			require.ErrorIs(t, err, test.want, label)
			require.Zero(t, starts, label)
		}
		require.Empty(t, c.server.Requests())
	})
}

// A session continues in the directory in which it started. If the call names another directory, or if the directory
// does not exist any more, a CLI that stores sessions by directory is not started.
func TestSessionOfDirectory(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(answered)))
		made := filepath.Join(c.home.Work, "made")
		require.NoError(t, os.Mkdir(made, 0o700))
		first := c.askIn(clichain.AccessRead, asked)
		first.Dir, first.Model = made, models[name]
		resp, err := c.Complete(t.Context(), first)
		require.NoError(t, err)
		next := clichain.Prompt("and now?")
		next.Session, next.Model, next.Access = resp.Session, models[name], clichain.AccessRead
		there, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		require.Equal(t, resp.Session, there.Session)
		if spec, _ := specs.ByName(name); spec.Sessions.DirBound {
			elsewhere := next
			elsewhere.Dir = c.home.Work
			starts, err := c.starts(t, elsewhere)
			require.ErrorIs(t, err, clichain.ErrBadSession)
			require.Zero(t, starts)
		}
		require.NoError(t, os.RemoveAll(made))
		starts, err := c.starts(t, next)
		require.ErrorIs(t, err, clichain.ErrBadSession)
		require.Zero(t, starts)
	})
}

// The next process uses the record of an earlier one. Without the record the cumulative amounts are unknown, and the
// call runs in its own directory.
func TestSessionWithoutARecord(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		spec, _ := specs.ByName(name)
		if len(spec.Sessions.Cumulative) == 0 {
			t.Skip("the CLI reports no cumulative amounts")
		}
		state := t.TempDir()
		t.Setenv("XDG_STATE_HOME", state)
		c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(answered)))
		next := c.askIn(clichain.AccessRead, asked)
		next.Model = models[name]
		first, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		require.NoError(t, os.RemoveAll(state))
		next.Session = first.Session
		second, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		require.Equal(t, first.Session, second.Session)
		for _, count := range spec.Sessions.Cumulative {
			switch count {
			case "cost_usd":
				require.Nil(t, second.Usage.CostUSD)
			case "input_tokens":
				require.Zero(t, second.Usage.InputTokens)
			}
		}
		third, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		require.Equal(t, first.Usage.OutputTokens, third.Usage.OutputTokens, "the record exists again")
	})
}

// Without persistence, no text of the conversation stays in the home, and no session handle is returned. With
// persistence the text stays.
func TestSessionWithoutPersistence(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(answered)))
		forget := c.question(asked)
		forget.Options.NoSessionPersistence = true
		if name == home.Gemini {
			starts, err := c.starts(t, forget)
			require.ErrorIs(t, err, clichain.ErrUnsupported)
			require.Zero(t, starts)
			return
		}
		resp, err := c.Complete(t.Context(), forget)
		require.NoError(t, err)
		require.Empty(t, resp.Session)
		require.Empty(t, holding(t, c.home.Dir, "zyzzyva"))
		require.Empty(t, holding(t, c.home.Dir, "vermilion"))

		_, err = c.Complete(t.Context(), c.question(asked))
		require.NoError(t, err)
		require.NotEmpty(t, holding(t, c.home.Dir, "zyzzyva"), "the CLI stores no sessions at all")
	})
}

// question returns a plain request. It names a model, so gemini does not select one with a second request.
func (c cli) question(text string) clichain.Request {
	req := clichain.Prompt(text)
	req.Model = models[c.home.Name]
	return req
}

// starts makes a call and counts the starts of the CLI.
func (c cli) starts(t *testing.T, req clichain.Request) (n int, err error) {
	t.Helper()
	for e, failure := range c.Stream(t.Context(), req) {
		if err = failure; e.Kind == clichain.EventStart {
			n++
		}
	}
	return n, err
}

// holding lists the files below a directory that contain a text.
func holding(t *testing.T, dir, text string) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			files = append(files, path)
		}
		return err
	}))
	return files
}

// handleOf returns the handle of a session as a Response contains it.
func handleOf(name, id string) string {
	return name + "." + base64.RawURLEncoding.EncodeToString([]byte(id))
}
