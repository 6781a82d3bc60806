package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// kilo omits its own system text, but keeps the names of the model and its directories.
func TestKiloAnswers(t *testing.T) {
	long(t)
	q := answersLean(t, home.Kilo, 1_100)
	require.Regexp(t, `^Answer in French\.\nYou are powered by the model named m1\.`, q.System())
}

func TestKiloFails(t *testing.T) {
	long(t)
	failures := everyFailure(home.Kilo)
	delete(failures, "logged out")
	fails(t, home.Kilo, failures)
}

// Without a login, kilo reports that it does not know the model.
func TestKiloLoggedOut(t *testing.T) {
	long(t)
	c := start(t, home.Kilo, home.LoggedOut, longTimeout, loopback.Always(loopback.Text("never")))
	req := clichain.Prompt("say hi")
	req.Model = loggedOutModels[home.Kilo]
	_, err := c.Complete(t.Context(), req)
	require.ErrorIs(t, err, clichain.ErrBadModel)
	require.Empty(t, c.server.Calls())
}

func TestKiloContinuesSession(t *testing.T) {
	long(t)
	continuesSession(t, home.Kilo)
}

func TestKiloAccess(t *testing.T) {
	long(t)
	checksAccess(t, home.Kilo, toolReplies{
		read: func(path string) loopback.Reply { return loopback.Tool("read", map[string]any{"filePath": path}) },
		write: func(path string) loopback.Reply {
			return loopback.Tool("write", map[string]any{"filePath": path, "content": "x"})
		},
		run: func(command string) loopback.Reply { return shell(home.Kilo, command) },
	})
}
