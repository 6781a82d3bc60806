package specs_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/specs"
)

// An example spec that is based only on documentation says this. The linter finds only that the files of the CLI are
// unknown.
func TestExamplesFromDocumentation(t *testing.T) {
	for _, name := range []string{"amp", "droid", "dsh", "grok", "kiro"} {
		text, err := os.ReadFile("../docs/examples/" + name + ".yaml")
		require.NoError(t, err)
		require.Contains(t, string(text), "By documentation: it has not been run")
		require.Contains(t, string(text), "# Source: ")
		list, warnings, err := specs.Lint(bytes.NewReader(text))
		require.NoError(t, err, name)
		require.Len(t, warnings, 1, name)
		require.Equal(t, "confine.state", warnings[0].Path, name)
		require.Len(t, list, 1)
		require.Equal(t, name, list[0].Name)
		require.Empty(t, list[0].CheckedWith, "%s was not checked with any version", name)
	}
}
