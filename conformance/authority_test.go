package conformance_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
)

// hostileJob is a job with options that need a permission. In its fields, MARKER stands for a file that must not be
// created, LOADED for the file that it loads, and ELSEWHERE for a server that must get no request.
type hostileJob struct {
	name, cli string
	submit    []string
	permits   []string // the job succeeds with these, which proves that it is hostile
	loaded    string   // the content of the file LOADED
	script    func(marker string) loopback.Script
}

var hostileJobs = []hostileJob{
	{
		name: "shell by raw arguments", cli: home.Claude,
		submit:  []string{"--extra", "claude=--tools=Bash", "--extra", "claude=--allowedTools=Bash"},
		permits: []string{"extra=claude=--tools=Bash", "extra=claude=--allowedTools=Bash"},
		script: func(marker string) loopback.Script {
			return loopback.InOrder(shell(home.Claude, "echo ran >"+marker), loopback.Text(hello))
		},
	},
	{
		name: "program by raw arguments", cli: home.Codex,
		submit:  []string{"--extra", "codex=-c", "--extra", `codex=notify=["touch","MARKER"]`},
		permits: []string{"extra=codex=-c", `extra=codex=notify=["touch","MARKER"]`},
	},
	{
		name: "library by environment variables", cli: home.Pi, loaded: `require("fs").writeFileSync("MARKER", "ran")`,
		submit:  []string{"--env", "NODE_OPTIONS=--require=LOADED"},
		permits: []string{"env=NODE_OPTIONS"},
	},
	{
		name: "spans to a server", cli: home.OpenCode,
		submit:  []string{"--env", "OTEL_EXPORTER_OTLP_ENDPOINT=ELSEWHERE"},
		permits: []string{"env=OTEL_*"},
	},
}

// A worker without flags returns a job that needs a permission, and does not start the CLI. With the permissions the
// job runs, which proves that it is hostile.
func TestHostileJobsWithTheCLIs(t *testing.T) {
	netns.Require(t)
	program := command(t)
	for _, job := range hostileJobs {
		t.Run(job.name+" of "+job.cli, func(t *testing.T) {
			t.Parallel()
			var elsewhere atomic.Int64
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
			t.Cleanup(other.Close)
			dir := t.TempDir()
			marker, loaded, store := filepath.Join(dir, "marker"), filepath.Join(dir, "loaded.js"), filepath.Join(dir, "store")
			fill := strings.NewReplacer("MARKER", marker, "LOADED", loaded, "ELSEWHERE", other.URL)
			require.NoError(t, os.WriteFile(loaded, []byte(fill.Replace(job.loaded)), 0o600))
			script := loopback.Always(loopback.Text(hello))
			if job.script != nil {
				script = job.script(marker)
			}
			server := loopback.New(t, script)
			h := home.New(t, job.cli, server.URL, home.LoggedIn)
			done := func() bool { _, err := os.Stat(marker); return err == nil || elsewhere.Load() > 0 }

			args := []string{"queue", "submit", "--store", store, "--id", "a"}
			for _, flag := range job.submit {
				args = append(args, fill.Replace(flag))
			}
			_, stderr, submit := commandIn(t, program, h, append(args, "hi")...)
			require.NoError(t, submit.Run(), "%s", stderr)

			log := workOn(t, program, h, store, job.cli, "permission_refused")
			require.False(t, done(), "%s", log)
			require.Empty(t, server.Requests(), "%s", log)

			var permits []string
			for _, what := range job.permits {
				permits = append(permits, "--permit", fill.Replace(what))
			}
			log = workOn(t, program, h, store, job.cli, `msg="job answered"`, permits...)
			require.True(t, done(), "the job did not use its permissions: %s", log)
			require.Empty(t, living(t, h))
		})
	}
}

// workOn runs a worker until its log contains the text, and terminates it.
func workOn(t *testing.T, program string, h home.Home, store, name, text string, flags ...string) string {
	t.Helper()
	_, _, worker := commandIn(t, program, h, append([]string{
		"worker", "--store", store, "--only", name, "--cold", "--timeout", "120s", "--pass-env", "LOOPBACK_*",
		"--confine", "off", // otherwise the kernel denies the effects, too
	}, flags...)...)
	log := &watched{text: []byte(text), seen: make(chan struct{})}
	worker.Stderr = log
	require.NoError(t, worker.Start())
	select {
	case <-log.seen:
	case <-time.After(2 * patience):
	}
	require.NoError(t, worker.Process.Signal(syscall.SIGTERM))
	err := worker.Wait()
	require.NoError(t, err, "%s", log.all.String())
	require.Contains(t, log.all.String(), text)
	return log.all.String()
}

// watched is a log that reports when it contains a text. It supports one writing goroutine.
type watched struct {
	text []byte
	all  bytes.Buffer
	seen chan struct{} // closed when the log contains the text
}

func (w *watched) Write(p []byte) (int, error) {
	before := bytes.Contains(w.all.Bytes(), w.text)
	w.all.Write(p)
	if !before && bytes.Contains(w.all.Bytes(), w.text) {
		close(w.seen)
	}
	return len(p), nil
}

// A line that needs a permission fails validation, with --dry-run too, and its CLI does not start. With the
// permission the line runs.
func TestHostileLinesWithTheCLIs(t *testing.T) {
	netns.Require(t)
	program := command(t)
	for name, test := range map[string]struct {
		line   string
		allows []string
	}{
		home.Claude: {`{"prompt":"hi","access":"full","dir":"/"}`, []string{"--access", "full", "--permit", "dir=/"}},
		home.Codex: {
			`{"prompt":"hi","options":{"extra":{"codex":["-c","notify=['touch','MARKER']"]}}}`,
			[]string{"--permit", "extra=codex=-c", "--permit", "extra=codex=notify=['touch','MARKER']"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			marker := filepath.Join(t.TempDir(), "marker")
			server := loopback.New(t, loopback.InOrder(shell(name, "echo ran >"+marker), loopback.Text(hello)))
			h := home.New(t, name, server.URL, home.LoggedIn)
			h.Env = append(h.Env, "IS_SANDBOX=1") // lets root use the bypass flags
			run := func(flags ...string) string {
				for i := range flags {
					flags[i] = strings.ReplaceAll(flags[i], "MARKER", marker)
				}
				stdout, stderr, cmd := commandIn(t, program, h, append([]string{
					"batch", "-i", "-", "-o", "-", "--only", name, "--timeout", "120s", "--pass-env", "LOOPBACK_*", "--pass-env", "IS_SANDBOX",
					"--confine", "off",
				}, flags...)...)
				cmd.Stdin = strings.NewReader(strings.ReplaceAll(test.line, "MARKER", marker) + "\n")
				_ = cmd.Run() // the command fails on an invalid line
				return stdout.String() + stderr.String()
			}
			for _, flags := range [][]string{{"--access", "none"}, {"--access", "none", "--dry-run"}} {
				require.Regexp(t, `\[the operator can allow it with [^\]]*--`, run(flags...))
			}
			require.NoFileExists(t, marker)
			require.Empty(t, server.Requests())
			out := run(test.allows...)
			require.FileExists(t, marker, "the line did not use its permissions: %s", out)
		})
	}
}

// While a request is in flight, no process of a CLI has the caller's system text in its arguments. The text must
// still reach the model.
func TestSystemTextNotInArguments(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		t.Parallel()
		const text = "Count zyzzyvas."
		for _, access := range []clichain.Access{clichain.AccessNone, clichain.AccessRead, clichain.AccessWrite} {
			var h atomic.Pointer[home.Home]
			var processes atomic.Pointer[[]string]
			c := start(t, name, home.LoggedIn, longTimeout, func(loopback.Request) loopback.Reply {
				found := h.Load().Living()
				processes.Store(&found)
				return loopback.Text(hello)
			})
			h.Store(&c.home)
			req := c.question("say hi")
			if req.Access = access; access != clichain.AccessNone {
				req.Dir = c.home.Work
			}
			req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleSystem, Content: text})
			_, err := c.Complete(t.Context(), req)
			require.NoError(t, err, access)
			sent(text)(t, c)
			require.NotEmpty(t, *processes.Load())
			require.NotContains(t, strings.Join(*processes.Load(), "\n"), text, access)
		}
	})
}
