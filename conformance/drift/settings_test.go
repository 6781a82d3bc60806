package drift_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/specs"
)

// Each version of codex must know each setting of the spec. In strict mode codex reports a setting that it does not
// know. Otherwise it ignores the setting, and the call keeps the feature that the setting should turn off.
func TestSettingsOfCodex(t *testing.T) {
	spec := specs.Codex()
	for _, of := range home.Installs() {
		if of.CLI != home.Codex {
			continue
		}
		t.Run(of.Wanted(t), func(t *testing.T) {
			netns.Require(t)
			t.Parallel()
			h := home.NewOf(t, of, "http://127.0.0.1:9", home.LoggedOut)
			settings := settingsIn(spec, of.Version(t))
			require.Greater(t, len(settings), 20)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			output, err := run(h.Command(ctx, slices.Concat([]string{"exec", "--skip-git-repo-check", "--strict-config"}, settings, []string{"-"})...))
			require.NoError(t, err)
			require.NotContains(t, output, "Error loading config")
			require.Contains(t, output, "No prompt provided")

			output, err = run(h.Command(ctx, "exec", "--skip-git-repo-check", "--strict-config", "-c", "features.moon=false", "-"))
			require.NoError(t, err)
			require.Contains(t, output, "unknown configuration field `features.moon`")
		})
	}
}

// settingsIn returns the settings of the rows that apply to a version without any request options.
func settingsIn(spec clispec.Spec, version string) (args []string) {
	for _, row := range spec.Args {
		if !row.When.AppliesTo(version) {
			continue
		}
		for pair := range slices.Chunk(row.Args, 2) {
			if pair[0] == "-c" && !strings.Contains(pair[1], "{") && !slices.Contains(args, pair[1]) {
				args = append(args, pair...)
			}
		}
	}
	return args
}
