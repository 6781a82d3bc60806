package conformance_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/specs"
)

// Words that stand in no CLI's own texts.
const (
	asked    = "remember zyzzyva-one"
	answered = "noted vermilion-two"
)

// A second call goes on from the first: the model is sent what was said, and
// the session is still the same.
func TestSessionGoesOn(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, loopback.InOrder(loopback.Text(answered), loopback.Text(hello)))
		first, err := c.Complete(t.Context(), c.question(asked))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(first.Session, name+":"), first.Session)

		next := clichain.Prompt("and now?") // the session knows its folder
		next.Session, next.Model = first.Session, models[name]
		second, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		require.Equal(t, hello, second.Text)
		require.Equal(t, idOf(first.Session), idOf(second.Session))
		require.Equal(t, first.Usage.OutputTokens, second.Usage.OutputTokens, "of this call, not of the session")
		if first.Usage.CostUSD != nil {
			require.InDelta(t, *first.Usage.CostUSD, *second.Usage.CostUSD, 0.1**first.Usage.CostUSD)
		}
		calls := c.server.Calls()
		require.Len(t, calls, 2)
		require.Contains(t, string(calls[1].Body), asked)
		for _, word := range strings.Fields(answered) { // some APIs get the pieces that they sent
			require.Contains(t, string(calls[1].Body), word)
		}
	})
}

// A session that a CLI does not know is no reason to answer without it.
func TestUnknownSession(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, nil)
		req := c.question("and now?")
		req.Session = name + ":" + unknownSessions[name]
		_, err := c.Complete(t.Context(), req)
		require.ErrorIs(t, err, clichain.ErrBadSession)
		require.Empty(t, c.server.Calls(), "the model was asked all the same")
	})
}

// What can be no session of a CLI's is refused before it starts: it would take
// some of these for none, and begin anew.
func TestImpossibleSession(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		c := start(t, name, home.LoggedIn, longTimeout, nil)
		type handle struct {
			session, dir string
			want         error
		}
		tests := map[string]handle{
			"a title":              {name + ":not-an-id", "", clichain.ErrBadSession},
			"a path":               {name + ":../../x", "", clichain.ErrBadSession},
			"a flag":               {name + ":--help", "", clichain.ErrBadSession},
			"no id":                {name + ":", "", clichain.ErrBadSession},
			"no handle":            {unknownSessions[name], "", clichain.ErrBadSession},
			"of another":           {"lumen:" + unknownSessions[name], "", clichain.ErrUnsupported},
			"of a folder now gone": {name + ":" + unknownSessions[name] + "@" + c.home.Work + "/gone", "", clichain.ErrBadSession},
		}
		if spec, _ := specs.ByName(name); spec.Sessions.DirBound {
			tests["of another folder"] = handle{name + ":" + unknownSessions[name] + "@" + c.home.Work, c.home.Dir, clichain.ErrBadSession}
		}
		for label, test := range tests {
			req := clichain.Prompt("and now?")
			req.Session, req.Dir = test.session, test.dir
			starts, err := c.starts(t, req)
			require.ErrorIs(t, err, test.want, label)
			require.Zero(t, starts, label)
		}
		require.Empty(t, c.server.Requests())
	})
}

// A session that is not to be kept leaves no word of the conversation in the
// home, where a kept one does, and nothing to go on from.
func TestSessionIsNotKept(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
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
		require.NotEmpty(t, holding(t, c.home.Dir, "zyzzyva"), "nothing is ever kept: the test shows nothing")
	})
}

// question is a plain question, without the request
// with which gemini would have a model chosen.
func (c cli) question(text string) clichain.Request {
	req := clichain.Prompt(text)
	req.Model = models[c.home.Name]
	return req
}

// starts counts the runs of a call.
func (c cli) starts(t *testing.T, req clichain.Request) (n int, err error) {
	t.Helper()
	for e, failure := range c.Stream(t.Context(), req) {
		if err = failure; e.Kind == clichain.EventStart {
			n++
		}
	}
	return n, err
}

// holding lists the files below a folder that contain a text.
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

// idOf is whose session a handle is, without what it had used.
func idOf(handle string) string {
	id, _, _ := strings.Cut(handle, "@")
	id, _, _ = strings.Cut(id, ";")
	return id
}
