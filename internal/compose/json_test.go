package compose

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// A spec that was converted to JSON and back composes the same invocations.
func TestSpecFromJSONComposesTheSame(t *testing.T) {
	for _, spec := range specs.Every() {
		t.Run(spec.Name, func(t *testing.T) {
			data, err := json.MarshalIndent(spec, "", "  ")
			require.NoError(t, err)
			loaded, err := specs.Load(strings.NewReader(string(data)))
			require.NoError(t, err)
			require.Equal(t, []clispec.Spec{spec}, loaded)
			again, err := json.MarshalIndent(loaded[0], "", "  ")
			require.NoError(t, err)
			require.Equal(t, string(data), string(again))
			original, copied := composerOf(t, spec), composerOf(t, loaded[0])
			for _, c := range append(matrix(), variations(spec.Name)...) {
				want, wantErr := original.Compose(c.req, c.choice, testHost())
				got, gotErr := copied.Compose(c.req, c.choice, testHost())
				require.Equal(t, want, got, c.name)
				require.Equal(t, wantErr, gotErr, c.name)
			}
		})
	}
}
