package doctor_test

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/doctor"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/specs"
)

// TestMain turns the test binary into a fake CLI if a test starts it as one.
func TestMain(m *testing.M) {
	clitest.Main()
	warmUp()
	os.Exit(clitest.Run(m))
}

// warmUp runs a program once. Its helpers, such as the watchdog, live as long as the process, and would look like a
// leak of the first test.
func warmUp() {
	program, err := exec.LookPath("true")
	if err == nil {
		_, err = proc.Run(context.Background(), proc.Command{Path: program})
	}
	if err != nil {
		panic(err)
	}
}

func play(steps ...clitest.Step) clitest.Scenario { return clitest.Scenario{Steps: steps} }

func stdout(text string) clitest.Step { return clitest.Step{Stdout: text} }

var readStdin = clitest.Step{ReadStdin: true}

// codexAnswer returns the output of codex for an answer.
func codexAnswer(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"type":"thread.started","thread_id":"t-1"}` + "\n" +
		`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":` + string(quoted) + `}}` + "\n" +
		`{"type":"turn.completed","usage":{"input_tokens":12,"output_tokens":7}}` + "\n"
}

// fake is a backend that answers, or fails with its reason.
type fake struct {
	name   string
	reason clichain.Reason
}

func (f fake) Name() string { return f.name }

func (f fake) Complete(context.Context, clichain.Request) (*clichain.Response, error) {
	if f.reason != "" {
		return nil, &clichain.BackendError{Backend: f.name, Reason: f.reason}
	}
	return &clichain.Response{Text: "from " + f.name, Backend: f.name}, nil
}

func (f fake) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		resp, err := f.Complete(ctx, req)
		yield(clichain.Event{Kind: clichain.EventDone, Response: resp}, err)
	}
}

// logIn sets an API key for each CLI.
func logIn(t testing.TB) {
	t.Helper()
	for _, name := range []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "CURSOR_API_KEY", "CODEX_API_KEY"} {
		t.Setenv(name, "x")
	}
}

// freshMachine installs fakes of all CLIs, with an empty home directory and an almost empty environment. It returns
// the home directory and the directory of the fakes.
func freshMachine(t *testing.T, s clitest.Scenario) (home, bin string) {
	t.Helper()
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if name != "PATH" && name != "TMPDIR" && !strings.HasPrefix(name, "GO") {
			t.Setenv(name, value) // registers the restoration of the value
			require.NoError(t, os.Unsetenv(name))
		}
	}
	home, bin = t.TempDir(), t.TempDir()
	for _, spec := range specs.Every() {
		_, err := clitest.Install(bin, spec.Binary, s)
		require.NoError(t, err)
	}
	t.Setenv("HOME", home)
	t.Setenv("PATH", bin)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	return home, bin
}

// write writes a file in a directory.
func write(t *testing.T, dir, path, content string) string {
	t.Helper()
	file := filepath.Join(dir, path)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

// diagnosis returns the diagnosis of a built-in backend.
func diagnosis(t *testing.T, name string) doctor.Diagnosis {
	t.Helper()
	spec, ok := specs.ByName(name)
	require.True(t, ok)
	p := clichain.NewProvider(spec, nil)
	d := doctor.Diagnose(t.Context(), []clichain.Backend{p}, nil).Backends[0]
	require.Equal(t, d.Ready(), p.Available(t.Context()) == nil, "the report says what a call does")
	return d
}
