package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

// confining returns a command that confines its CLIs, and its output streams.
func (w *world) confining(args ...string) (cmd *exec.Cmd, stdout, stderr *strings.Builder) {
	cmd, stdout, stderr = w.command(args...), new(strings.Builder), new(strings.Builder)
	cmd.Env = append(cmd.Env, "CLICHAIN_CONFINE=", "PATH="+w.bin+":/usr/bin:/bin")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

const unconfinedSpecs = `[{"name":"one","binary":"one","args":[{"args":["{prompt}"]}]},
	{"name":"two","binary":"two","args":[{"args":["{prompt}"]},{"args":["--all"],"when":{"access":["full"]}}]},
	{"name":"three","binary":"three","args":[{"args":["{prompt}"]}],"confine":{"state":[{"path":"~/.three"}]}}]`

// A link to the command itself is a CLI like any other. A CLI may have put it among its own files, together with a
// scenario.
func TestLinkToCommandIsConfined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := clitest.Install(w.bin, "three", clitest.Scenario{Steps: []clitest.Step{{Stdout: "fine\n"}}})
	require.NoError(t, err)
	link := filepath.Join(w.bin, "three")
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(program(), link))
	spec := filepath.Join(t.TempDir(), "specs.json")
	require.NoError(t, os.WriteFile(spec, []byte(unconfinedSpecs), 0o600))
	cmd, stdout, stderr := w.confining("ask", "--spec", spec, "--only", "three", "--json", "hi")
	require.NoError(t, cmd.Run(), stderr.String())
	var resp struct{ Text, Confined string }
	require.NoError(t, json.Unmarshal([]byte(stdout.String()), &resp))
	require.Equal(t, "fine", resp.Text)
	require.Regexp(t, "^landlock ", resp.Confined)
}
