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

// The model may use git in its shell. In a trusted directory git runs the programs that the repository names. In an
// untrusted one it runs only filters, which git cannot ignore. codex lets no tool write to .git, so git
// calls no hook.
func TestGitInHostileDirectory(t *testing.T) {
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
			f := c.hostileDir(t, nil)
			ran := slices.DeleteFunc(f.ask(t, c, clichain.AccessWrite, c.home.Work), func(sign string) bool {
				return !strings.HasPrefix(sign, "ran ")
			})
			require.Equal(t, test.want, ran, results(c))
		})
	}
}

// trusted returns the name of a test case.
func trusted(name string, trust bool) string {
	if trust {
		return name + " in a trusted directory"
	}
	return name
}
