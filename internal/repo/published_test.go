package repo_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/chaintest"
)

// "go install" refuses a module with a replace directive. go.work has what only development needs.
func TestPublishedModules(t *testing.T) {
	required := regexp.MustCompile(`(?m)^\t(` + module + `[/a-z]*) (\S+)`)
	work, versions := chaintest.Read(t, "go.work"), map[string]bool{}
	for _, dir := range []string{".", "jetstream", "otel", "hosttools", "batch", "cmd/clichain"} {
		text := chaintest.Read(t, filepath.Join(dir, "go.mod"))
		require.NotContains(t, text, "replace", dir)
		found := required.FindAllStringSubmatch(text, -1)
		require.Equal(t, dir != ".", len(found) > 0, dir)
		for _, m := range found {
			versions[m[2]] = true
			require.Regexp(t, `^v[01]\.\d+\.\d+(-[0-9A-Za-z.]+)?$`, m[2], "%s: %s", dir, m[1])
			require.Contains(t, work, m[1]+" "+m[2]+" => .", "go.work: or else a checkout needs the network")
		}
	}
	require.Len(t, versions, 1, "of all of them")
}
