//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

// picky installs a codex that fails for prompts with the word "crash". It answers all other prompts with the same
// text, which is not JSON.
func (w *world) picky() (path string) {
	w.t.Helper()
	var said strings.Builder
	for _, step := range answer("codex", "hello") {
		said.WriteString(step.Stdout)
	}
	path = filepath.Join(w.bin, "codex")
	script := "#!/bin/sh\nprompt=$(/bin/cat)\ncase \"$prompt\" in *crash*) exit 3;; esac\n/bin/cat <<'END'\n" + said.String() + "END\n"
	cmd := exec.Command("/bin/sh", "-c", `/bin/cat >"$1" && chmod 755 "$1"`, "sh", path) // this process must never have the file open for writing
	cmd.Stdin = strings.NewReader(script)
	require.NoError(w.t, cmd.Run())
	return path
}

// TestBatchWithBadLines checks that failing lines do not delay the others.
func TestBatchWithBadLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.picky()
	run := func(line func(i int) string) (failed map[string]string, took time.Duration) {
		in, out := filepath.Join(t.TempDir(), "in.jsonl"), filepath.Join(t.TempDir(), "out.jsonl")
		var lines strings.Builder
		for i := range 25 {
			fmt.Fprintf(&lines, `{"id":"%d",%s}`+"\n", i, line(i))
		}
		require.NoError(t, os.WriteFile(in, []byte(lines.String()), 0o600))
		cmd := w.command("batch", "-i", in, "-o", out, "--only", "codex", "--cold", "--timeout", "5m")
		start := time.Now()
		said, _ := cmd.CombinedOutput() // the exit code reports the failed lines
		took = time.Since(start)
		require.NotContains(t, string(said), "no CLI can answer before")
		failed = map[string]string{}
		all := records(t, out)
		require.Len(t, all, 25, "%s", said)
		for _, r := range all {
			if r.Error != nil {
				failed[r.ID] = string(r.Error.Reason)
			}
		}
		return failed, took
	}
	good := func(i int) string { return fmt.Sprintf(`"prompt":"question %d"`, i) }
	failed, usual := run(good)
	require.Empty(t, failed)
	for name, test := range map[string]struct {
		bad  func(i int) string
		want string
	}{
		"different prompts that crash": {func(i int) string { return fmt.Sprintf(`"prompt":"crash %d"`, i) }, "exit"},
		"same prompt that crashes":     {func(int) string { return `"prompt":"crash"` }, "exit"},
		"answers that violate the schema": {func(i int) string {
			return good(i) + `,"schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`
		}, "bad_output"},
	} {
		t.Run(name, func(t *testing.T) {
			failed, took := run(func(i int) string {
				if i < 5 {
					return test.bad(i)
				}
				return good(i)
			})
			want := map[string]string{}
			for i := range 5 {
				want[fmt.Sprint(i)] = test.want
			}
			require.Equal(t, want, failed)
			t.Logf("25 good lines took %v, with 5 bad ones %v", usual, took)
			require.Less(t, took, max(10*usual, 25*time.Second), "a cooldown would have lasted 30 s")
		})
	}
	require.Empty(t, clitest.Survivors(path))
}

// TestServeWithBadRequests checks that failing requests of one client do not suppress the CLI for other clients.
func TestServeWithBadRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.picky()
	s := w.serving("--only", "codex")
	status := func(body string) int {
		resp, err := s.ask(body)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	const schema = `,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}}}`
	var bad sync.WaitGroup
	stop := make(chan struct{})
	bad.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			text, more, want := fmt.Sprint("crash ", i), "", 502
			if i%3 == 2 {
				text, more, want = "hi", schema, 400
			}
			if got := status(fmt.Sprintf(`{"messages":[{"role":"user","content":%q}]%s}`, text, more)); got != want {
				t.Errorf("the bad client got status %d instead of %d", got, want)
			}
		}
	})
	defer bad.Wait()
	defer close(stop)
	for i := range 5 {
		for j := range 4 {
			require.Equal(t, 502, status(fmt.Sprintf(`{"messages":[{"role":"user","content":"crash %d of %d"}]}`, j, i)))
		}
		require.Equal(t, 200, status(fmt.Sprintf(`{"messages":[{"role":"user","content":"question %d"}]}`, i)))
	}
	t.Cleanup(func() {
		code, _ := s.stop(os.Interrupt)
		require.Zero(t, code)
		require.Empty(t, clitest.Survivors(path))
	})
}
