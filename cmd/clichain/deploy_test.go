package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/monitoring"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// deployed returns a file of the directory deploy.
func deployed(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	require.NoError(t, err)
	return string(data)
}

// pod has the fields of deploy/kubernetes/worker.yaml that depend on the command. The module conformance checks the
// whole file.
type pod struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				TerminationGracePeriodSeconds int
				SecurityContext               struct{ RunAsUser int }
				InitContainers                []struct{ Args []string }
				Containers                    []struct {
					Args                          []string
					LivenessProbe, ReadinessProbe struct{ HTTPGet struct{ Path string } }
				}
			}
		}
	}
}

func workerPod(t *testing.T) (p pod) {
	t.Helper()
	for text := range strings.SplitSeq(deployed(t, "kubernetes/worker.yaml"), "\n---\n") {
		if strings.Contains(text, "\nkind: Deployment\n") {
			var document any
			require.NoError(t, yaml.Unmarshal([]byte(text), &document))
			data, err := json.Marshal(document)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(data, &p)) // does not distinguish cases
		}
	}
	require.Len(t, p.Spec.Template.Spec.Containers, 1)
	require.Len(t, p.Spec.Template.Spec.InitContainers, 1)
	return p
}

// last returns the rest of the last line that begins with a text.
func last(t *testing.T, file, begin string) (rest string) {
	t.Helper()
	for line := range strings.Lines(file) {
		if after, ok := strings.CutPrefix(line, begin); ok {
			rest = strings.TrimSuffix(after, "\n")
		}
	}
	require.NotEmpty(t, rest, begin)
	return rest
}

// unitSetting returns the last value of a setting in the unit of systemd.
func unitSetting(t *testing.T, key string) string {
	t.Helper()
	return last(t, deployed(t, "systemd/clichain-worker.service"), key+"=")
}

// instruction returns the argument of the last such instruction in the Containerfile.
func instruction(t *testing.T, name string) string {
	t.Helper()
	return last(t, deployed(t, "container/Containerfile"), name+" ")
}

// execForm returns the arguments of an instruction that does not use a shell.
func execForm(t *testing.T, name string) (args []string) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(instruction(t, name)), &args))
	return args
}

// lastWrites is longer than a worker takes to end after its grace. It stores results for up to 20 s and ends its CLIs.
const lastWrites = 40 * time.Second

// TestDeployedCommandsParse checks the command lines of the unit, the image and the manifest, and that each of them
// gives a worker the time to drain.
func TestDeployedCommandsParse(t *testing.T) {
	stop, err := time.ParseDuration(strings.TrimSuffix(unitSetting(t, "TimeoutStopSec"), "in"))
	require.NoError(t, err)
	p := workerPod(t).Spec.Template.Spec
	for name, c := range map[string]struct {
		args []string
		stop time.Duration // zero: the caller decides
	}{
		"unit":     {strings.Fields(unitSetting(t, "ExecStart"))[1:], stop},
		"image":    {slices.Concat(execForm(t, "ENTRYPOINT"), execForm(t, "CMD"))[1:], 0},
		"manifest": {p.Containers[0].Args, time.Duration(p.TerminationGracePeriodSeconds) * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, rest, err := newRoot(&console.Env{Getenv: func(string) string { return "" }}).Find(c.args)
			require.NoError(t, err)
			require.Equal(t, "worker", cmd.Name())
			require.NoError(t, cmd.ParseFlags(rest))
			require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()))
			grace, err := time.ParseDuration(c.args[slices.Index(c.args, "--grace")+1])
			require.NoError(t, err)
			if c.stop > 0 {
				require.GreaterOrEqual(t, c.stop, grace+lastWrites)
			}
		})
	}
}

// TestDeployedProbesExist requests the probes of the manifest.
func TestDeployedProbesExist(t *testing.T) {
	handler := monitoring.Handler(monitoring.Probes{
		Healthy: func() string { return "" }, Ready: func(context.Context) string { return "" },
	}, http.NotFoundHandler())
	c := workerPod(t).Spec.Template.Spec.Containers[0]
	require.Equal(t, "/livez", c.LivenessProbe.HTTPGet.Path, "others restart a worker that waits for its server")
	for _, path := range []string{c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path} {
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		require.Equal(t, http.StatusOK, response.Code, path)
	}
}

// TestImage checks the parts of the Containerfile that depend on other files: the Go version, the versions of the
// CLIs, and the user of the manifest.
func TestImage(t *testing.T) {
	require.Equal(t, []string{"/usr/local/bin/clichain"}, execForm(t, "ENTRYPOINT"))
	require.Equal(t, "--from=build /clichain /usr/local/bin/clichain", instruction(t, "COPY"))
	file := deployed(t, "container/Containerfile")
	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))[1]
	require.Contains(t, file, "FROM golang:"+version+" AS build\n")
	require.Equal(t, workerPod(t).Spec.Template.Spec.SecurityContext.RunAsUser, 10001)
	require.Equal(t, "10001:10001", instruction(t, "USER"))
	require.Contains(t, file, "--uid 10001 ")

	var tested struct{ Dependencies map[string]string }
	data, err := os.ReadFile("../../conformance/package.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &tested))
	_, clis, _ := strings.Cut(instruction(t, "ARG"), "=")
	for _, cli := range strings.Fields(strings.Trim(clis, `"`)) {
		at := strings.LastIndex(cli, "@")
		require.Equal(t, tested.Dependencies[cli[:at]], cli[at+1:], cli)
	}
}

// TestUnit checks that systemd knows each setting of the unit, that the CLIs of jobs in flight get no signal, and that
// the confinement is permitted.
func TestUnit(t *testing.T) {
	require.Equal(t, "mixed", unitSetting(t, "KillMode"))
	require.Equal(t, "SIGTERM", unitSetting(t, "KillSignal"))
	for _, call := range []string{"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"} {
		require.Contains(t, strings.Fields(unitSetting(t, "SystemCallFilter")), call)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd is not installed")
	}
	file := filepath.Join(t.TempDir(), "clichain-worker.service")
	text := strings.ReplaceAll(deployed(t, "systemd/clichain-worker.service"), "/usr/local/bin/clichain", program())
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), file, "it complains about the unit")
}

// TestManifestCopiesLogin runs the script of the manifest as the kubelet does: a Secret is a directory of links. A
// login that a CLI has renewed stays.
func TestManifestCopiesLogin(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell: ", err)
	}
	secret, home := t.TempDir(), t.TempDir()
	script := strings.ReplaceAll(workerPod(t).Spec.Template.Spec.InitContainers[0].Args[0], "/login/", secret+"/")
	copies := func() {
		cmd := exec.CommandContext(t.Context(), sh, "-c", script)
		cmd.Env = append(os.Environ(), "HOME="+home)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	copies()
	entries, err := os.ReadDir(home)
	require.NoError(t, err)
	require.Empty(t, entries, "without the Secret")

	require.NoError(t, os.MkdirAll(filepath.Join(secret, "..version", ".claude"), 0o755))
	const file = ".claude/.credentials.json"
	login := filepath.Join(home, file)
	require.NoError(t, os.WriteFile(filepath.Join(secret, "..version", file), []byte("first"), 0o640))
	require.NoError(t, os.Symlink("..version", filepath.Join(secret, "..data")))
	require.NoError(t, os.Symlink("..data/.claude", filepath.Join(secret, ".claude")))
	copies()
	info, err := os.Stat(login)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NoError(t, os.WriteFile(login, []byte("renewed"), 0o600))
	copies()
	data, err := os.ReadFile(login)
	require.NoError(t, err)
	require.Equal(t, "renewed", string(data))
	entries, err = os.ReadDir(home)
	require.NoError(t, err)
	require.Len(t, entries, 1, "not the other links of the Secret")
}
