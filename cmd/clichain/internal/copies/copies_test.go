package copies_test

import (
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/copies"
	"github.com/clichain/clichain/permit"
	"github.com/clichain/clichain/specs"
	"github.com/clichain/clichain/workspace"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// parse returns the flags of a command line.
func parse(t *testing.T, args ...string) *copies.Repos {
	t.Helper()
	var r copies.Repos
	flags := pflag.NewFlagSet("batch", pflag.ContinueOnError)
	r.Register(flags)
	require.NoError(t, flags.Parse(args))
	return &r
}

func TestReposPermit(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		old  permit.Permissions
		want permit.Permissions
		err  string
	}{
		"no flag": {nil, permit.Permissions{Access: clichain.AccessFull}, permit.Permissions{Access: clichain.AccessFull}, ""},
		"access none": {
			[]string{"--repos", "/srv/a", "--repos", "/srv/b"}, permit.Permissions{},
			permit.Permissions{Access: clichain.AccessWrite, Dirs: []string{"/srv/a", "/srv/b"}}, "",
		},
		"permitted directories": {
			[]string{"--repos", "/srv/a", "--check", "true", "--carry", "x", "--check-timeout", "1s", "--assume-isolated"},
			permit.Permissions{Access: clichain.AccessRead, Dirs: []string{"/home"}},
			permit.Permissions{Access: clichain.AccessWrite, Dirs: []string{"/home", "/srv/a"}}, "",
		},
		"access full": {
			[]string{"--repos", "/srv"}, permit.Permissions{Access: clichain.AccessFull}, permit.Permissions{},
			"--repos: a copy does not hold back an agent with access full",
		},
		"check without repos":           {[]string{"--check", "true"}, permit.Permissions{}, permit.Permissions{}, "--check: needs --repos"},
		"carry without repos":           {[]string{"--carry", "x"}, permit.Permissions{}, permit.Permissions{}, "--carry: needs --repos"},
		"check-timeout without repos":   {[]string{"--check-timeout", "1s"}, permit.Permissions{}, permit.Permissions{}, "--check-timeout: needs"},
		"assume-isolated without repos": {[]string{"--assume-isolated"}, permit.Permissions{}, permit.Permissions{}, "--assume-isolated: needs"},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.old
			err := parse(t, test.args...).Permit(&got)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				require.Equal(t, test.old, got)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestFlagsConfig(t *testing.T) {
	r := parse(t, "--check", `go test "./a b"`, "--check", "make", "--check-timeout", "90s", "--carry", "node_modules", "--assume-isolated")
	cfg, err := r.Config()
	require.NoError(t, err)
	require.Equal(t, &workspace.Config{
		Checks: [][]string{{"go", "test", "./a b"}, {"make"}}, CheckTimeout: 90 * time.Second, Carry: []string{"node_modules"},
		AssumeIsolated: true,
	}, cfg)
	_, err = parse(t, "--check", "go 'test").Config()
	require.ErrorContains(t, err, "--check: ")
}

func TestWrapContainsBackends(t *testing.T) {
	claude := clichain.NewProvider(specs.Claude(), nil)
	wrapped := copies.Wrap([]clichain.Backend{claude}, &workspace.Config{})
	require.Len(t, wrapped, 1)
	require.Equal(t, "claude", wrapped[0].Name())
	require.Same(t, claude, wrapped[0].(interface{ Unwrap() clichain.Backend }).Unwrap())
}
