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

// TestMain lets the test binary play the fake CLIs that tests start.
func TestMain(m *testing.M) {
	clitest.Main()
	warmUp()
	os.Exit(m.Run())
}

// warmUp runs a program once: what the first run of a process starts for good,
// such as the watchdog, is no leak of the test that comes first.
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

// codexAnswer is what codex prints for an answer.
func codexAnswer(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"type":"thread.started","thread_id":"t-1"}` + "\n" +
		`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":` + string(quoted) + `}}` + "\n" +
		`{"type":"turn.completed","usage":{"input_tokens":12,"output_tokens":7}}` + "\n"
}

// fake is a backend that answers, or fails in the same way each time.
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

// logIn gives every CLI a key, as on a machine where they are in use.
func logIn(t testing.TB) {
	t.Helper()
	for _, name := range []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "CURSOR_API_KEY", "CODEX_API_KEY"} {
		t.Setenv(name, "x")
	}
}

// freshMachine has all the CLIs on PATH, in an empty home, and nothing else in
// the environment. It returns the home and the folder of the programs.
func freshMachine(t *testing.T, s clitest.Scenario) (home, bin string) {
	t.Helper()
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if name != "PATH" && name != "TMPDIR" && !strings.HasPrefix(name, "GO") {
			t.Setenv(name, value) // to be restored
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

// write puts a file into a folder.
func write(t *testing.T, dir, path, content string) string {
	t.Helper()
	file := filepath.Join(dir, path)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

// diagnosis is what is known of one of the built-in backends.
func diagnosis(t *testing.T, name string) doctor.Diagnosis {
	t.Helper()
	spec, ok := specs.ByName(name)
	require.True(t, ok)
	p := clichain.NewProvider(spec, nil)
	d := doctor.Diagnose(t.Context(), []clichain.Backend{p}, nil).Backends[0]
	require.Equal(t, d.Ready(), p.Available(t.Context()) == nil, "the report says what a call does")
	return d
}
