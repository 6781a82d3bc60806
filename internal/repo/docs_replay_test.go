package repo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// replaySample is the module of docs/how-to/test-without-a-cli.md, outside this repository, with its compiled test.
type replaySample struct{ dir, binary string }

func newReplaySample(t *testing.T) *replaySample {
	t.Helper()
	page := chaintest.Read(t, "docs/how-to/test-without-a-cli.md")
	code, file := chaintest.Blocks(page, "go")[0], chaintest.Blocks(page, "json")[0]
	s := &replaySample{t.TempDir(), filepath.Join(t.TempDir(), "sample.exe")}
	s.write(t, "go.mod", outsideModule(t, "clitest"))
	s.write(t, "summary_test.go", code)
	s.write(t, "prompt.txt", "Summarize this change in at most five words:\n- timeout: 30s\n+ timeout: 90s\n")
	s.write(t, "testdata/calls/summarize-this-change-in-at-most-five-8b8be44516ba.json", file)
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-o", s.binary, ".")
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PWD="+s.dir, "GOWORK=off", "GOPROXY=off", "GOSUMDB=off", "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return s
}

func (s *replaySample) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// run runs the tests of the sample with these programs and variables only.
func (s *replaySample) run(t *testing.T, path string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(s.binary, append(args, "-test.v")...)
	cmd.Dir = s.dir
	home := t.TempDir()
	cmd.Env = append(env, "PATH="+path, "HOME="+home, "USERPROFILE="+home, "TMPDIR="+home, "PWD="+s.dir,
		"SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A module outside this repository replays a recording without a CLI. A changed prompt fails with the difference.
func TestReplayOutside(t *testing.T) {
	sources(t) // skips without a checkout
	sample := newReplaySample(t)
	none := t.TempDir()
	out, err := sample.run(t, none, nil)
	require.NoError(t, err, out)
	require.Contains(t, out, "--- PASS: TestSummary")

	sample.write(t, "prompt.txt", "Summarize this change in at most five words:\n- timeout: 30s\n+ timeout: 60s\n")
	out, err = sample.run(t, none, nil)
	require.Error(t, err)
	for line := range strings.Lines(chaintest.Blocks(chaintest.Read(t, "docs/how-to/test-without-a-cli.md"), "text")[0]) {
		want := strings.TrimSpace(line)
		if strings.HasPrefix(want, "---") {
			want = filepath.FromSlash(want)
		}
		require.Contains(t, out, want)
	}
	require.Contains(t, out, "record the call with clitest.Record")

	spec := specs.Claude()
	programs := t.TempDir()
	_, err = clitest.Install(programs, spec.Binary, clitest.Answer(spec, "Double the timeout"))
	require.NoError(t, err)
	key := "ANTHROPIC_API_KEY=" + strings.Repeat("x", 12) // a fake without a key is logged out
	out, err = sample.run(t, programs, []string{key}, "-record")
	require.NoError(t, err, out)
	out, err = sample.run(t, none, nil)
	require.NoError(t, err, out)
	recordings, err := filepath.Glob(filepath.Join(sample.dir, "testdata/calls/*.json"))
	require.NoError(t, err)
	require.Len(t, recordings, 2)
}
