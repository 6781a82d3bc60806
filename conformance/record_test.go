package conformance_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/internal/recording"
	"github.com/clichain/clichain/specs"
)

var recordTo = flag.String("record", "", "directory for the recordings of TestRecord; empty: skip the test")

// maxRecording limits the output of one run in bytes, so that recordings stay readable.
const maxRecording = 60_000

// TestRecord records each scene with each real CLI that supports it. The arguments are those that the library passes.
func TestRecord(t *testing.T) {
	if *recordTo == "" {
		t.Skip("needs -record")
	}
	netns.Require(t)
	for _, name := range recordedCLIs() {
		for _, s := range scenes(name) {
			t.Run(name+"/"+s.name, func(t *testing.T) { s.record(t, name, filepath.Join(*recordTo, name, s.name+".json")) })
		}
	}
}

// A scene without a recording tests nothing.
func TestEverySceneHasRecording(t *testing.T) {
	for _, name := range recordedCLIs() {
		seen := map[string]bool{}
		for _, s := range scenes(name) {
			require.False(t, seen[s.name], "two scenes %q of %s", s.name, name)
			seen[s.name] = true
			require.FileExists(t, filepath.Join("..", "internal", "reading", "testdata", "recordings", name, s.name+".json"))
		}
	}
}

// record plays the scene once and writes the redacted recording to a file. It replaces an existing recording, except what
// tests expect of it.
func (s scene) record(t *testing.T, name, into string) {
	forgetEnvironment(t)
	raw := filepath.Join(t.TempDir(), "run")
	var work string
	server := loopback.New(t, func(q loopback.Request) loopback.Reply { return loopback.InOrder(s.replies...)(q).Within(work) })
	h := home.New(t, name, server.URL, s.state)
	work = h.Work
	h.Write(t, "work/notes.txt", "The sky is blue.\n")
	t.Setenv("TMPDIR", filepath.Join(h.Dir, "tmp")) // contains the library's files, so their paths in argv are redacted
	t.Setenv("XDG_STATE_HOME", filepath.Join(h.Dir, ".local/state"))
	spec, ok := specs.ByName(name)
	require.True(t, ok)
	if len(s.extra) > 0 {
		spec.Args = append(spec.Args, clispec.ArgRow{Args: s.extra})
	}
	spec.LingerMS = int(minute.Milliseconds()) // the CLI must end by itself, even on a busy machine
	if h.Env = append(h.Env, s.env...); s.access == clichain.AccessFull {
		h.Env = append(h.Env, "IS_SANDBOX=1") // only root needs it; claude also retries longer with it
	}
	s.ask(t, recorded(t, spec, h, raw, clichain.Config{Timeout: s.patience(), Output: s.output}), h)

	rewrite := rewriter(t, h, server.URL)
	run := readRecorded(t, raw, s.patience(), rewrite)
	run.Output = cmp.Or(s.output, spec.OutputModes()[0])
	if s.stream {
		run.Output = clispec.OutputStream
	}
	if earlier, err := recording.Read(into); err == nil {
		run.Expected = earlier.Expected
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(into), 0o755))
	require.NoError(t, recording.Write(into, run))
}

// readRecorded returns the run in the directory of a recorder. A run whose recorder was killed was stopped after the limit.
func readRecorded(t *testing.T, dir string, limit time.Duration, rewrite func(string) string) recording.Run {
	t.Helper()
	size := 0
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		size += len(content)
		return rewrite(string(content))
	}
	run := recording.Run{Recorded: time.Now().UTC().Truncate(time.Minute), TimedOut: true, Seconds: limit.Seconds()}
	if _, err := os.Stat(filepath.Join(dir, "end")); !errors.Is(err, os.ErrNotExist) {
		run.TimedOut = false
		require.NoError(t, json.Unmarshal([]byte(read("end")), &run))
	}
	require.NoError(t, json.Unmarshal([]byte(read("argv")), &run.Argv))
	run.Stdin, run.Stdout, run.Stderr = recording.Stream(read("stdin")), recording.Stream(read("stdout")), recording.Stream(read("stderr"))
	require.Less(t, size, maxRecording, "too large for a recording")
	return run
}

// forgetEnvironment unsets the environment variables that a spec could pass on, because they may change the behavior
// of a CLI.
func forgetEnvironment(t *testing.T) {
	t.Helper()
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if name != "PATH" && !strings.HasPrefix(name, "CLICHAIN_") {
			require.NoError(t, os.Unsetenv(name))
			t.Cleanup(func() { require.NoError(t, os.Setenv(name, value)) })
		}
	}
}

// recorded returns a Provider whose program is the recorder, which runs the CLI of the home.
func recorded(t *testing.T, spec clichain.CliSpec, h home.Home, into string, cfg clichain.Config) *clichain.Provider {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cfg.Binary = filepath.Join(t.TempDir(), h.Name)
	require.NoError(t, os.Symlink(self, cfg.Binary))
	cfg.Env = append(h.Env, recordInto+"="+into, recordProgram+"="+h.Binary)
	return clichain.NewProvider(spec, &cfg)
}

// ask sends the scene's question and logs the error. The recording matters, not the answer.
func (s scene) ask(t *testing.T, p *clichain.Provider, h home.Home) {
	req := s.question(h)
	var err error
	if s.stream {
		for _, failure := range p.Stream(t.Context(), req) {
			err = failure
		}
	} else {
		_, err = p.Complete(t.Context(), req)
	}
	t.Logf("%v", err)
}

func (s scene) question(h home.Home) clichain.Request {
	req := clichain.Prompt("say hi")
	if s.access != clichain.AccessNone {
		req.Dir = h.Work
	}
	req.Model, req.Access, req.Options = s.model, s.access, s.options
	if s.session != "" {
		req.Session = handleOf(h.Name, s.session)
	}
	return req
}

func (s scene) patience() time.Duration {
	if s.timeout > 0 {
		return s.timeout
	}
	return minute
}

// userHome returns the home directory of the user, without the environment variable HOME.
func userHome() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

// rewriter returns a function that redacts the properties of this machine and of this run. It fails the test if one
// is left.
func rewriter(t *testing.T, h home.Home, url string) func(string) string {
	t.Helper()
	_, port, ok := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
	require.True(t, ok)
	packages := filepath.Dir(filepath.Dir(filepath.Dir(h.Binary))) // the directory that contains node_modules/.bin
	server := regexp.MustCompile(`:` + port + `\b`)
	call := regexp.MustCompile(`clichain-[A-Z2-7]{26}`)
	temp := regexp.MustCompile(`(^|[^\w/.-])/tmp/`) // paths of programs that ignore TMPDIR
	dashed := strings.NewReplacer("/", "-", ".", "-").Replace
	known := strings.NewReplacer(
		h.Dir, "/home/dev", dashed(h.Dir), "-home-dev", strings.TrimPrefix(h.Dir, "/"), "home/dev", packages, "/home/dev/clis",
	)
	var telling []*regexp.Regexp
	for _, f := range []func() (string, error){os.Hostname, userHome, os.Getwd} {
		if s, err := f(); err == nil && s != "" && s != "/" {
			telling = append(telling, regexp.MustCompile(`(^|\W)`+regexp.QuoteMeta(s)+`(\W|$)`))
		}
	}
	return func(text string) string {
		text = call.ReplaceAllString(known.Replace(text), "clichain-CALL")
		text = temp.ReplaceAllString(server.ReplaceAllString(text, ":PORT"), "${1}/home/dev/tmp/")
		for _, re := range telling {
			require.NotRegexp(t, re, text, "a property of this machine is left")
		}
		return text
	}
}
