package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/cmd/clichain/internal/inspect"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/doctor"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// workshop returns a world with a shell, and with fakes of the installers that the examples use.
func workshop(t *testing.T) *world {
	w := newWorld(t)
	for _, tool := range []string{"bash", "cp", "mkdir", "cat"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skip("the examples need a shell: ", err)
		}
		require.NoError(t, os.Symlink(path, filepath.Join(w.bin, tool)))
	}
	for name, text := range map[string]string{"npm": "installed", "go": "gopath", "git": "a commit"} {
		w.fake(name, "version", text)
	}
	return w
}

// shell runs a script with the shell options of CI systems, and returns its output.
func (w *world) shell(dir, script string, env ...string) (string, error) {
	const endJobs = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" // background jobs keep the output open
	cmd := exec.Command(filepath.Join(w.bin, "bash"), "-e", "-c", endJobs+script)
	cmd.WaitDelay = consoletest.Patience
	cmd.Dir, cmd.Env = dir, w.command().Env
	cmd.Env = slices.DeleteFunc(cmd.Env, func(kv string) bool { return slices.Contains(logins, kv) })
	cmd.Env = append(append(cmd.Env, "PATH="+w.bin+":"+filepath.Dir(program())), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

type workflow struct {
	Jobs map[string]struct {
		Steps []struct {
			Name, Uses, Run string
			Env             map[string]string
		}
	}
}

// TestOperationsPageActions runs the steps of the workflow with fakes of the installers.
func TestOperationsPageActions(t *testing.T) {
	t.Parallel()
	var flow workflow
	require.NoError(t, yaml.Load([]byte(consoletest.Block(t, "GitHub Actions", "yaml")), &flow))
	steps := flow.Jobs["ask"].Steps
	require.Len(t, steps, 5)
	for _, secret := range []string{"key", ""} {
		t.Run("secret="+secret, func(t *testing.T) {
			t.Parallel()
			w := workshop(t)
			w.fake("claude", "answer", "Bugs were mended.")
			dir := t.TempDir()
			summary, path := filepath.Join(dir, "summary.md"), filepath.Join(dir, "path")
			for _, step := range steps {
				if step.Run == "" {
					require.NotEmpty(t, step.Uses)
					continue
				}
				env := []string{"GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=" + summary, "GITHUB_PATH=" + path}
				for name, value := range step.Env {
					require.Equal(t, "${{ secrets."+name+" }}", value)
					env = append(env, name+"="+secret)
				}
				out, err := w.shell(dir, step.Run, env...)
				if secret == "" && step.Name == "What works here" {
					var exit *exec.ExitError
					require.ErrorAs(t, err, &exit)
					require.Equal(t, 3, exit.ExitCode(), "and the job ends")
					break
				}
				require.NoError(t, err, "%s: %s", step.Name, out)
			}
			written, err := os.ReadFile(summary)
			require.NoError(t, err)
			if secret == "" {
				require.Contains(t, string(written), "| claude | unauthenticated | logged out |")
				return
			}
			require.Contains(t, string(written), "| claude | ready | logged in: ANTHROPIC_API_KEY | api_key |")
			require.Contains(t, string(written), "(github_actions)")
			require.Contains(t, string(written), "Bugs were mended.")
			folder, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, "gopath/bin\n", string(folder))
		})
	}
}

var phase = regexp.MustCompile(`(?s)(\w+Phase) = ''\n(.*?)\n  '';`)

// TestOperationsPageNix runs the phases of the derivation in the environment of a Nix build, with SKIP_CLI and
// without.
func TestOperationsPageNix(t *testing.T) {
	t.Parallel()
	text := consoletest.Block(t, "Nix", "nix")
	phases := phase.FindAllStringSubmatch(text, -1)
	require.Len(t, phases, 2)
	require.Contains(t, text, `SKIP_CLI = "1";`)
	for _, skip := range []string{"SKIP_CLI=1", "SKIP_CLI="} {
		t.Run(skip, func(t *testing.T) {
			t.Parallel()
			w := workshop(t)
			for _, name := range selection.BuiltinNames() {
				w.fake(name, "hang", "")
			}
			dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
			require.NoError(t, os.WriteFile(filepath.Join(dir, "CHANGES.md"), []byte("by hand"), 0o600))
			for _, p := range phases {
				said, err := w.shell(dir, p[2], skip, "NIX_BUILD_TOP="+dir, "HOME=/homeless-shelter", "out="+out)
				require.NoError(t, err, said)
			}
			notes, err := os.ReadFile(filepath.Join(out, "notes.md"))
			require.NoError(t, err)
			require.Equal(t, "by hand", string(notes))
		})
	}
}

// TestOperationsPageRemarks compares the codes in the command reference with the codes in the source.
func TestOperationsPageRemarks(t *testing.T) {
	given := map[string]bool{inspect.CodeUnasked: true, doctor.CodeSlow: true} // these codes are constants
	files, err := filepath.Glob("../../doctor/*.go")
	require.NoError(t, err)
	more, err := filepath.Glob("../../internal/machine/*.go")
	require.NoError(t, err)
	for _, file := range append(files, more...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?:remark\(|\badd\(|Problem\{+\s*|[cC]ode: |return )"(\w+)", `).FindAllStringSubmatch(string(source), -1) {
			given[m[1]] = true
		}
	}
	page, err := os.ReadFile("../../docs/reference/command.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(page), "| Remark | Meaning |\n|---|---|\n")
	listed := map[string]bool{}
	for line := range strings.Lines(rest) {
		m := regexp.MustCompile("^\\| `(\\w+)` \\| ").FindStringSubmatch(line)
		if m == nil {
			break
		}
		listed[m[1]] = true
		require.False(t, doctor.Problem{Code: m[1]}.Blocks(), "%s is a reason", m[1])
	}
	require.Equal(t, given, listed)
}
