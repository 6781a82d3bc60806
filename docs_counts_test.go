package clichain_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/specs"
)

// otherCount matches a count of CLIs that need not say how many run for real. Up to five are the CLIs of the default
// chain.
var otherCount = regexp.MustCompile(`(?i)\b(six|seven|eight|nine|ten|eleven|twelve|[6-9]|1\d) (CLIs|built-in specs)\b|` +
	`\ball (six|seven|eight|nine|ten|eleven|twelve)\b`)

// A count of all CLIs says how many of them run for real, and how many are known only from documentation.
func TestCountsOfCLIs(t *testing.T) {
	var documented []string
	for _, spec := range specs.Every() {
		if len(spec.Packages) == 0 { // no registry has it
			documented = append(documented, spec.Name)
		}
	}
	every := len(specs.Every())
	total := fmt.Sprintf("%d built-in specs", every)
	count := fmt.Sprintf("%s: %d run for real, %d by documentation (%s)", total, every-len(documented), len(documented), strings.Join(documented, ", "))
	pages, err := filepath.Glob("docs/*/*.md")
	require.NoError(t, err)
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md", "SECURITY.md") {
		text := strings.Join(strings.Fields(read(t, page)), " ")
		switch page {
		case "README.md", "docs/reference/conformance.md", "docs/how-to/guide.md", "docs/how-to/run-the-tests.md":
			require.True(t, strings.Contains(text, count), "%s: write %q", page, count)
		}
		require.Empty(t, otherCount.FindAllString(strings.ReplaceAll(text, count, ""), -1), "%s: write %q", page, count)
	}
}
