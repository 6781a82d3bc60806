package telemetry

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

const rules = "../../../../deploy/prometheus/alerts.yml"

// TestAlertsUseKnownMetrics checks that each metric of a rule is on the page of metrics, and each rule on the page for
// operators.
func TestAlertsUseKnownMetrics(t *testing.T) {
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	data, err := os.ReadFile(rules)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(data, &file))
	reference, err := os.ReadFile(page)
	require.NoError(t, err)
	guide, err := os.ReadFile("../../../../docs/how-to/monitor.md")
	require.NoError(t, err)
	known := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(reference), -1) {
		known[m[2]] = true
		if m[3] == "histogram" {
			known[m[2]+"_count"], known[m[2]+"_bucket"] = true, true
		}
	}
	selector := regexp.MustCompile(`\b(?:clichain|gen_ai)_[a-z_]+`)
	label := regexp.MustCompile(`(?:by|on) \([^)]*\)|\{[^}]*\}`)
	metrics := func(expr string) []string { return selector.FindAllString(label.ReplaceAllString(expr, ""), -1) }
	require.Len(t, file.Groups, 1)
	require.NotEmpty(t, file.Groups[0].Rules)
	for _, r := range file.Groups[0].Rules {
		require.Contains(t, string(guide), "| `"+r.Alert+"` |")
		require.NotEmpty(t, metrics(r.Expr))
		for _, name := range metrics(r.Expr) {
			require.True(t, known[name], "%s: %s", r.Alert, name)
		}
	}
	_, queries, ok := strings.Cut(string(guide), "## Query the metrics")
	require.True(t, ok)
	for _, line := range strings.Split(queries, "\n") {
		if strings.HasPrefix(line, "|") && strings.Contains(line, "_") && !strings.Contains(line, "build_info") {
			for _, name := range metrics(line) {
				require.True(t, known[name], "%s: %s", line, name)
			}
		}
	}
}

// TestAlerts runs the unit tests of the rules.
func TestAlerts(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("promtool of Prometheus is not installed")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := exec.CommandContext(t.Context(), "promtool", args...)
		cmd.Dir = filepath.Dir(rules)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "SUCCESS")
	}
}
