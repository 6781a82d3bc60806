package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// fleet is a queue on a NATS server with a password, and a machine with fakes.
type fleet struct {
	*world
	url string
}

// password is the password of the server. No output may contain it.
const password = "password-of-the-test"

func newFleet(t *testing.T) *fleet {
	s := consoletest.NATSServer(t, func(o *server.Options) { o.Username, o.Password = "u", password })
	return &fleet{newWorld(t), strings.Replace(s.ClientURL(), "//", "//u:"+password+"@", 1)}
}

// notices creates the queue. A missing worker is noticed after the given time instead of 30 s.
func (f *fleet) notices(after time.Duration) {
	f.t.Helper()
	nc, err := nats.Connect(f.url)
	require.NoError(f.t, err)
	defer nc.Close()
	_, err = jetstream.Open(f.t.Context(), nc, &jetstream.Config{AckWait: after})
	require.NoError(f.t, err)
}

// run runs a command until it exits.
func (f *fleet) run(args ...string) (stdout, stderr string, status int) {
	f.t.Helper()
	var out, err bytes.Buffer
	cmd := f.command(args...)
	cmd.Env = append(cmd.Env, "NATS_URL="+f.url)
	cmd.Stdout, cmd.Stderr = &out, &err
	require.NoError(f.t, cmd.Start())
	limit := time.AfterFunc(consoletest.Patience, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	if failed := cmd.Wait(); failed != nil {
		require.ErrorContains(f.t, failed, "exit status", "%q: %s", args, err.String())
	}
	require.NotContains(f.t, out.String()+err.String(), password)
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// answers runs a command that must succeed, and returns its output.
func (f *fleet) answers(args ...string) string {
	f.t.Helper()
	out, err, status := f.run(args...)
	require.Zero(f.t, status, "%q: %s%s", args, out, err)
	return out
}

// status returns an empty status until the queue exists.
func (f *fleet) status() (s jetstream.Status) {
	f.t.Helper()
	out, err, status := f.run("queue", "status", "--json")
	if status == console.ExitUsage && strings.Contains(out, "the server has none") {
		return s
	}
	require.Zero(f.t, status, err)
	require.NoError(f.t, json.Unmarshal([]byte(out), &s))
	return s
}

// awaitStatus reads the status until it meets the condition. It does not run the command, which takes 0.1 s of CPU time
// with the race detector.
func (f *fleet) awaitStatus(wanted func(*jetstream.Status) bool) (s *jetstream.Status) {
	f.t.Helper()
	nc, err := nats.Connect(f.url)
	require.NoError(f.t, err)
	defer nc.Close()
	var q *jetstream.Queue
	for end := time.Now().Add(consoletest.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if q == nil {
			q, err = jetstream.Open(f.t.Context(), nc, &jetstream.Config{MustExist: true})
			if _, missing := errors.AsType[*jetstream.NoQueueError](err); missing {
				continue
			}
			require.NoError(f.t, err)
		}
		s, err = q.Status(f.t.Context())
		require.NoError(f.t, err)
		if wanted(s) {
			return s
		}
	}
	f.t.Fatalf("the status is still %+v", s)
	return nil
}

// working is a worker in a separate process.
type working struct {
	*exec.Cmd
	t       *testing.T
	health  string // address of the health server
	metrics string // address of the metrics
	lines   consoletest.LineWriter
	log     *bytes.Buffer
	read    chan struct{} // closed after the whole log was read
}

// worker starts a worker and waits until it takes jobs.
func (f *fleet) worker(args ...string) *working {
	f.t.Helper()
	cmd := f.command(append([]string{"worker", "--grace", "60s"}, args...)...)
	cmd.Env = append(cmd.Env, "NATS_URL="+f.url)
	stderr, err := cmd.StderrPipe()
	require.NoError(f.t, err)
	require.NoError(f.t, cmd.Start())
	w := &working{Cmd: cmd, t: f.t, lines: make(consoletest.LineWriter, 1000), log: new(bytes.Buffer), read: make(chan struct{})}
	go func() {
		defer close(w.read)
		defer close(w.lines)
		for scanner := bufio.NewScanner(io.TeeReader(stderr, w.log)); scanner.Scan(); {
			w.lines <- scanner.Text()
		}
	}()
	f.t.Cleanup(func() { _ = cmd.Process.Kill() }) // the worker has already exited if the test passed
	if slices.Contains(args, "--health") {
		_, w.health, _ = strings.Cut(w.await("health is served"), "address=")
	}
	if slices.Contains(args, "--metrics-address") {
		_, w.metrics, _ = strings.Cut(w.await("metrics are served"), "address=")
	}
	w.await("msg=working")
	return w
}

func (w *working) await(text string) string {
	w.t.Helper()
	return w.lines.Await(w.t, text)
}

// stop sends a signal, and returns the exit code and the log.
func (w *working) stop(s os.Signal) (status int, log string) {
	w.t.Helper()
	require.NoError(w.t, w.Process.Signal(s))
	limit := time.AfterFunc(consoletest.Patience, func() { _ = w.Process.Kill() })
	defer limit.Stop()
	<-w.read
	_ = w.Wait() // the caller checks the exit code
	require.NotContains(w.t, w.log.String(), password)
	return w.ProcessState.ExitCode(), w.log.String()
}
