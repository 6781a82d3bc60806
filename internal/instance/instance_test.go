package instance_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/instance"
)

func TestNamed(t *testing.T) {
	base := clispec.Spec{Name: "lumen", Binary: "lumen"}
	require.Equal(t, base, instance.Named(base, ""))
	require.Equal(t, base, instance.Named(base, "lumen"))
	work := instance.Named(base, "work")
	require.Equal(t, clispec.Spec{Name: "work", InstanceOf: "lumen", Binary: "lumen"}, work)
	require.Equal(t, clispec.Spec{Name: "late", InstanceOf: "lumen", Binary: "lumen"}, instance.Named(work, "late"))
}

func TestEnviron(t *testing.T) {
	home := filepath.FromSlash("/home/user")
	at := grammar.Place{Home: home, Vars: map[string]string{"KEY": "k", "ROOT": "/srv", "EMPTY": "", "TILDE": "~/t"}}
	for value, want := range map[string]string{
		"plain": "plain", "": "", "a=b ~": "a=b ~", "~": home, "~/.work": filepath.Join(home, ".work"), "~other/x": "~other/x",
		"./x": "./x", "${KEY}": "k", "${ROOT}/a": "/srv/a", "${NONE:-~/a}/b": filepath.Join(home, "a", "b"),
		"${EMPTY:-x}": "x", "${TILDE}/u": filepath.Join(home, "t", "u"),
	} {
		got, err := instance.Environ(&clispec.Spec{SetEnv: map[string]string{"B": value, "A": "1"}}, at)
		require.NoError(t, err, value)
		require.Equal(t, []string{"A=1", "B=" + want}, got)
	}
	for value, want := range map[string]string{
		"${NONE}/a": `set_env.A: "${NONE}/a": NONE is not set`, "${EMPTY}": `set_env.A: "${EMPTY}": EMPTY is not set`,
	} {
		_, err := instance.Environ(&clispec.Spec{SetEnv: map[string]string{"A": value}}, at)
		require.EqualError(t, err, want)
	}
	_, err := instance.Environ(&clispec.Spec{SetEnv: map[string]string{"A": "~/x"}}, grammar.Place{})
	require.EqualError(t, err, `set_env.A: "~/x": the home directory is unknown: write an absolute path`)
}

// A command in a hint selects the home of the backend, and contains no other variables.
func TestHints(t *testing.T) {
	const logIn = "run `lumen login`, or set LUMEN_KEY"
	spec := clispec.Spec{
		Hints: map[call.Reason]string{call.ReasonUnauthenticated: logIn, call.ReasonNotInstalled: "get it"},
		Login: clispec.LoginRules{Ways: []clispec.LoginWay{{Files: []clispec.FileFact{{Path: "${LUMEN_HOME:-~/.lumen}/login"}}}}},
		Trust: []clispec.FileFact{{Path: "~/.lumen/trust"}}, PassEnvIf: []clispec.PassRule{{Files: []clispec.FileFact{{Path: "${LUMEN_CONFIG}"}}}},
	}
	for _, test := range []struct {
		name    string
		set     map[string]string
		environ []string
		want    string
	}{
		{"nothing", nil, nil, ""},
		{"another variable", map[string]string{"LUMEN_KEY": "k"}, []string{"OTHER_KEY=k"}, ""},
		{"home of the spec", map[string]string{"LUMEN_HOME": "~/.work", "LUMEN_KEY": "k"}, nil, "LUMEN_HOME=~/.work "},
		{"home of the settings", nil, []string{"LUMEN_HOME=/srv/work", "LUMEN_KEY=k"}, "LUMEN_HOME=/srv/work "},
		{"both", map[string]string{"LUMEN_HOME": "~/.work", "HOME": "/srv"}, []string{"LUMEN_HOME=/srv/work"}, "HOME=/srv LUMEN_HOME=/srv/work "},
		{"variable of the host", map[string]string{"LUMEN_CONFIG": "${WORK:-~/w}/x"}, nil, "LUMEN_CONFIG=${WORK:-~/w}/x "},
		{"odd letters", map[string]string{"LUMEN_HOME": "~/my work's"}, []string{"HOME=a$b"}, `HOME='a$b' LUMEN_HOME=~/'my work'\''s' `},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec.SetEnv = test.set
			hints := instance.Hints(&spec, test.environ)
			require.Equal(t, "run `"+test.want+"lumen login`, or set LUMEN_KEY", hints[call.ReasonUnauthenticated])
			require.Equal(t, "get it", hints[call.ReasonNotInstalled])
			require.Equal(t, logIn, spec.Hints[call.ReasonUnauthenticated], "which is somebody else's")
		})
	}
}
