package inspect

import (
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/jsondiff"
	"github.com/clichain/clichain/specs"
	"github.com/stretchr/testify/require"
)

// TestDifferencesOfSpecs compares each spec with itself, and with a copy that has an additional row.
func TestDifferencesOfSpecs(t *testing.T) {
	for _, spec := range specs.Every() {
		c, err := compare(spec)
		require.NoError(t, err)
		require.Equal(t, comparison{spec.Name, spec.Name, []jsondiff.Difference{}}, c)
	}
	spec := specs.Claude()
	spec.Args = append(spec.Args[:3:3], append(spec.Args[2:3:3], spec.Args[3:]...)...)
	spec.Args[3].Args = []string{"--new"}
	c, err := compare(spec)
	require.NoError(t, err)
	require.Len(t, c.Differences, 1)
	require.Equal(t, "args[3]", c.Differences[0].Path)
	require.Nil(t, c.Differences[0].Old)
}
