package drift_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/conformance/drift"
	"github.com/clichain/clichain/specs"
)

// In the simulated version a flag has another name and an event is new. The test must name both, and a call must fail as
// unsupported with a hint.
func TestNextVersionOfClaude(t *testing.T) {
	spec := specs.Claude()
	checked, ok := read(t, spec.Name, spec.CheckedWith)
	require.True(t, ok)
	needs := drift.NeedsOf(spec, "")
	record := filepath.Join(t.TempDir(), "record")
	program, files := next(t, checked, needs, record)

	cli := drift.CLI{Source: drift.Sources[spec.Name], Paths: files, Run: func(ctx context.Context, args ...string) (string, error) {
		return run(exec.CommandContext(ctx, program, args...))
	}}
	now, in, err := drift.Look(t.Context(), cli, needs)
	require.NoError(t, err)
	report := drift.Compare(needs, checked, now, in)
	require.Equal(t, []string{"flag --tools (used)"}, texts(report.Vanished))
	require.Equal(t, []string{"flag --toolset", "event moon_phase"}, texts(report.New))

	p := clichain.NewProvider(spec, &clichain.Config{Binary: program})
	_, err = p.Complete(t.Context(), clichain.Prompt("hi"))
	var be *clichain.BackendError
	require.ErrorAs(t, err, &be)
	require.Equal(t, clichain.ReasonUnsupported, be.Reason, "%v", err)
	require.Equal(t, "99.0.0 is newer than "+spec.CheckedWith+", with which its spec was checked: update clichain, or the spec", be.Hint)
	called, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.Contains(t, called.Args, "--tools")
}

// next installs the version as npm would: a program, its package file, and a script with the strings of the checked
// version.
func next(t *testing.T, checked drift.Surface, needs drift.Needs, record string) (program string, files []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "node_modules", "@anthropic-ai", "claude-code")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	put("package.json", `{"name":"@anthropic-ai/claude-code","version":"99.0.0"}`)
	var help, script strings.Builder
	for _, flag := range checked.Flags[""] {
		if flag == "--tools" {
			flag = "--toolset"
		}
		fmt.Fprintf(&help, "  %s <value>  What it does\n", flag)
	}
	for _, event := range append(slices.Clone(checked.Events), "moon_phase") {
		fmt.Fprintf(&script, "say({type:\"system\",subtype:%q});\n", event)
	}
	for _, name := range slices.Concat(needs.Flags[""], needs.Events, needs.Variables) {
		fmt.Fprintf(&script, "use(%q);\n", name)
	}
	program, err := clitest.Install(dir, "claude", clitest.Scenario{
		Cases: []clitest.Case{{Args: []string{"--help"}, Steps: []clitest.Step{{Stdout: "Usage: claude [options]\n\nOptions:\n" + help.String()}}}},
		Steps: []clitest.Step{{Record: record}, {Stderr: "error: unknown option '--tools'\n"}, clitest.Exit(1)},
	})
	require.NoError(t, err)
	return program, []string{put("cli.js", script.String())}
}
