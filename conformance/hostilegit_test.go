package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// The model may use git in its shell. In a folder that is trusted, git runs what
// the repository names. In another it still runs its filters, which git cannot be
// told to leave, and nothing else. (codex lets no tool write to .git, so git has
// nothing to call a hook for.)
func TestGitInAHostileFolder(t *testing.T) {
	for _, test := range []struct {
		name  string
		trust bool
		want  []string
	}{
		{home.Claude, false, []string{"ran filter"}},
		{home.Claude, true, []string{"ran filter", "ran fsmonitor", "ran git-hook"}},
		{home.Codex, false, []string{"ran filter"}},
		{home.Codex, true, []string{"ran filter", "ran fsmonitor"}},
	} {
		t.Run(trusted(test.name, test.trust), func(t *testing.T) {
			t.Parallel()
			status := shell(test.name, "git status")
			c := start(t, test.name, home.LoggedIn, trusting(test.trust), loopback.InOrder(status, loopback.Text(hello)))
			f := c.hostileFolder(t, nil)
			ran := slices.DeleteFunc(f.ask(t, c, clichain.AccessWrite, c.home.Work), func(sign string) bool {
				return !strings.HasPrefix(sign, "ran ")
			})
			require.Equal(t, test.want, ran, results(c))
		})
	}
}

// trusted is the name of a case.
func trusted(name string, trust bool) string {
	if trust {
		return name + " where it is trusted"
	}
	return name
}
