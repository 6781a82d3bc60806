package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/examples/internal/machine"
	"github.com/clichain/clichain/specs"
)

// TestMain lets the test binary play the fake CLIs.
func TestMain(m *testing.M) { os.Exit(clitest.Run(m)) }

// writes returns a fake CLI that writes files before it answers.
func writes(spec clitest.Scenario, files map[string]string) clitest.Scenario {
	spec.Steps = append([]clitest.Step{{Write: files}}, spec.Steps...)
	return spec
}

// check is a check that needs the file "fixed". It prints a line if the file is missing.
var check = []string{"/bin/sh", "-c", "test -f fixed || { echo fixed is missing; exit 1; }"}

func TestProposesPatch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the check is a script")
	}
	claude, codex := specs.Claude(), specs.Codex()
	for name, test := range map[string]struct {
		clis   map[string]clitest.Scenario
		check  []string
		status int
		patch  string
		stderr string
	}{
		"check that passes": {nil, []string{"/bin/sh", "-c", "exit 0"}, 0, "", "ci: the check passes"},
		"no check":          {nil, nil, 2, "", "ci: no check"},
		"missing program":   {nil, []string{"/no/such/check"}, 2, "", "/no/such/check"},
		"repaired": {
			map[string]clitest.Scenario{"claude": writes(clitest.Answer(claude, "I wrote fixed."), map[string]string{"fixed": "yes\n"})},
			check, 1, "+yes", "ci: claude proposes changes in 1 files: I wrote fixed.",
		},
		"repaired by the second CLI": {
			map[string]clitest.Scenario{
				"claude": writes(clitest.Answer(claude, "Done."), map[string]string{"other": "no\n"}),
				"codex":  writes(clitest.Answer(codex, "Done."), map[string]string{"fixed": "yes\n"}),
			},
			check, 1, "+yes", "ci: codex proposes",
		},
		"not repaired": {
			map[string]clitest.Scenario{"claude": writes(clitest.Answer(claude, "Done."), map[string]string{"other": "no\n"})},
			check, 3, "", "rejected",
		},
		"logged out": {map[string]clitest.Scenario{"claude": clitest.LoggedOut(claude)}, check, 3, "", "unauthenticated"},
	} {
		t.Run(name, func(t *testing.T) {
			defer machine.New(test.clis)()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "code"), []byte("x\n"), 0o600))
			t.Chdir(dir)
			var stdout, stderr bytes.Buffer
			status := run(t.Context(), test.check, &stdout, &stderr)
			require.Equal(t, test.status, status, stderr.String())
			require.Contains(t, stderr.String(), test.stderr)
			require.Contains(t, stdout.String(), test.patch)
			require.NotContains(t, stdout.String(), "+no", "the changes of a rejected agent")
			if test.patch == "" {
				require.Empty(t, stdout.String())
			}
			left, err := os.ReadDir(".")
			require.NoError(t, err)
			require.Len(t, left, 1, "the checkout changed")
		})
	}
}

// The token of the CI job is not in the environment of the agent, and the prompt is not in its arguments.
func TestAgentDoesNotSeeToken(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the check is a script")
	}
	record := t.TempDir()
	scenario := clitest.Scenario{Steps: []clitest.Step{{Record: record}}}
	defer machine.New(map[string]clitest.Scenario{"claude": scenario})()
	tokens := []string{"GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "CI_JOB_TOKEN", "GH_TOKEN", "NPM_TOKEN"}
	for _, name := range tokens {
		t.Setenv(name, "value-of-"+name)
	}
	t.Chdir(t.TempDir())
	run(t.Context(), check, &bytes.Buffer{}, &bytes.Buffer{})
	files, err := os.ReadDir(record)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	r, err := clitest.ReadRecord(filepath.Join(record, files[0].Name()))
	require.NoError(t, err)
	require.Contains(t, string(r.Stdin), "fixed is missing")
	require.NotContains(t, strings.Join(r.Args, " "), "fixed is missing")
	for _, name := range tokens {
		require.NotContains(t, r.Env, name)
	}
}

// The workflow gives the token of the job to no step, and pins the actions.
func TestWorkflow(t *testing.T) {
	data, err := os.ReadFile("workflow.yml")
	require.NoError(t, err)
	var flow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Steps []struct {
				Uses, Run string
				With      map[string]string
				Env       map[string]string
			}
		}
	}
	require.NoError(t, yaml.Load(data, &flow))
	require.Equal(t, map[string]string{"contents": "read"}, flow.Permissions)
	steps := flow.Jobs["repair"].Steps
	require.NotEmpty(t, steps)
	require.Equal(t, "false", steps[0].With["persist-credentials"])
	for _, s := range steps {
		if s.Uses != "" {
			require.Regexp(t, `@[0-9a-f]{40}$`, s.Uses, "a tag can be moved")
		}
		for _, value := range s.Env {
			require.NotContains(t, value, "GITHUB_TOKEN")
			require.NotContains(t, value, "github.token")
		}
	}
	require.NotContains(t, string(data), "pull_request_target")
	if runtime.GOOS != "windows" {
		summarize(t, steps[len(steps)-1].Run)
	}
}

// summarize runs the last step of the workflow, in whose summary no text of a patch is markup.
func summarize(t *testing.T, script string) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("fix.patch", []byte("@@ -1,2 +1,2 @@\n ```\n-<b>\n+![x](y)\n"), 0o600))
	cmd := exec.Command("sh", "-ec", script)
	cmd.Env = append(os.Environ(), "GITHUB_STEP_SUMMARY=summary")
	require.NoError(t, cmd.Run())
	data, err := os.ReadFile("summary")
	require.NoError(t, err)
	require.Equal(t, "    @@ -1,2 +1,2 @@\n     ```\n    -<b>\n    +![x](y)\n", string(data))
}
