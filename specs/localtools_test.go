package specs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

func TestLocalTools(t *testing.T) {
	for _, spec := range specs.Every() {
		tools := specs.LocalTools(spec)
		require.NotEmpty(t, tools, spec.Name)
		require.Subset(t, tools, spec.AgentTools, spec.Name)
		require.Subset(t, tools, spec.ReadTools, spec.Name)
	}
	require.Empty(t, specs.LocalTools(clispec.Spec{Name: "other"}))
	require.Contains(t, specs.LocalTools(clispec.Spec{Name: "codex-work", InstanceOf: "codex"}), "file_change")
	require.NotContains(t, specs.LocalTools(specs.Codex()), "mcp_tool_call")
}
