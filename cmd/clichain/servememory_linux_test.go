package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/internal/norace"
	"github.com/stretchr/testify/require"
)

const (
	largeAnswer = 40 << 20 // bytes
	largePiece  = 32 << 10
	mayKeep     = 64 << 20 // bytes above the idle server
)

// resident returns the bytes of memory that a process has.
func resident(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	require.NoError(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

// settled returns the memory of a process when it no longer changes.
func settled(t *testing.T, pid int) int {
	t.Helper()
	last, same := resident(t, pid), 0
	require.Eventually(t, func() bool {
		now := resident(t, pid)
		if same++; max(now-last, last-now) > 1<<20 {
			last, same = now, 0
		}
		return same == 40
	}, consoletest.Patience, 25*time.Millisecond)
	return last
}

// Four streams of 40 MB leave the server at most 64 MiB above idle. The same limit applies while their clients read
// nothing, because the CLIs then wait with their output.
func TestServeMemory(t *testing.T) {
	if norace.Race {
		t.Skip("the race detector needs memory of its own")
	}
	w := newWorld(t)
	delta, err := json.Marshal(map[string]any{
		"type": "stream_event", "parent_tool_use_id": nil,
		"event": map[string]any{"delta": map[string]any{"type": "text_delta", "text": strings.Repeat("x", largePiece)}},
	})
	require.NoError(t, err)
	steps := []clitest.Step{{ReadStdin: true}}
	for range largeAnswer / largePiece {
		steps = append(steps, clitest.Step{Stdout: string(delta) + "\n"})
	}
	steps = append(steps, clitest.Step{Stdout: `{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s"}` + "\n"})
	_, err = clitest.Install(w.bin, "claude", clitest.Scenario{Steps: steps})
	require.NoError(t, err)
	s := w.serving("--only", "claude", "--cold", "--timeout", "10m")
	idle := resident(t, s.cmd.Process.Pid)
	pauses, goOn := make(chan error), make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			resp, err := s.ask(strings.Replace(served1, "{", `{"stream":true,`, 1))
			if err != nil {
				pauses <- err
				return
			}
			defer resp.Body.Close()
			answer := bufio.NewReader(resp.Body)
			_, err = io.CopyN(io.Discard, answer, 1<<20)
			pauses <- err
			<-goOn
			n, err := io.Copy(io.Discard, answer)
			if err == nil && n < largeAnswer-1<<20 {
				err = fmt.Errorf("only %d bytes came", n)
			}
			pauses <- err
		})
	}
	for range 4 {
		require.NoError(t, <-pauses)
	}
	paused := settled(t, s.cmd.Process.Pid)
	require.Less(t, paused-idle, mayKeep, "with slow clients")
	close(goOn)
	for range 4 {
		require.NoError(t, <-pauses)
	}
	clients.Wait()
	require.Eventually(t, func() bool { return resident(t, s.cmd.Process.Pid)-idle < mayKeep }, consoletest.Patience, 10*time.Millisecond,
		"after the answers")
	t.Logf("above idle: %d MiB with slow clients, %d MiB after the answers", (paused-idle)>>20, (resident(t, s.cmd.Process.Pid)-idle)>>20)
	resp, err := http.Get(strings.TrimSuffix(s.baseURL, "/v1") + "/healthz")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode)
	status, log := s.stop(syscall.SIGTERM)
	require.Zero(t, status, log)
}
