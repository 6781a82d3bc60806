package compose

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

func TestArgumentLengths(t *testing.T) {
	const limit = 131_071 // maximum length of one string on Linux, in bytes
	argv := Choice{Transport: clispec.TransportArgv}
	mine := clispec.Spec{Name: "mine", Binary: "mine"}
	env := mine
	env.Env = []clispec.EnvRow{{Name: "E", Value: "{effort}"}}
	for _, test := range []struct {
		name    string
		spec    clispec.Spec
		prompt  int
		effort  int
		refused string
	}{
		{"longest argument", mine, limit, 0, ""},
		{"one byte too long", mine, limit + 1, 0, "prompt"},
		{"longest argument with its flag", specs.Gemini(), limit - len("--prompt="), 0, ""},
		{"one byte too long with its flag", specs.Gemini(), limit - len("--prompt=") + 1, 0, "prompt"},
		{"longest variable", env, 1, limit - len("E="), ""},
		{"variable one byte too long", env, 1, limit - len("E=") + 1, "E"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := call.Prompt(strings.Repeat("x", test.prompt))
			req.Options.Effort = strings.Repeat("y", test.effort)
			_, err := composerOf(t, test.spec).Compose(req, argv, testHost())
			if test.refused == "" {
				require.Nil(t, err)
				return
			}
			require.ErrorIs(t, err, call.ErrUnsupported)
			require.Equal(t, test.refused, err.Option)
		})
	}
	inv, err := composerOf(t, specs.Claude()).Compose(call.Prompt(strings.Repeat("x", 1<<20)), Choice{}, testHost())
	require.Nil(t, err, "stdin takes any length")
	require.Len(t, inv.Stdin, 1<<20)
}
