package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// agentSpec is the spec of the CLI: sessions over JSON-RPC, and single calls.
const agentSpec = `{
  "name": "lumen", "binary": %s,
  "args": [
    {"args": ["--live"], "when": {"output": ["live"]}}, {"args": ["--write"], "when": {"access": ["write"]}}
  ],
  "outputs": ["stream"], "transports": ["stdin"],
  "events": [{"match": {"answer": ".+"}, "kind": "result", "terminal": true, "set": {"text": "answer"}}],
  "live": {
    "envelope": "json_rpc", "ready": [{"method": "initialize"}],
    "open": [{"method": "session/new"}], "context": "sessionId", "of": "params.sessionId",
    "turn": [{"method": "session/prompt", "ends": true, "params": "{\"text\":{prompt:json}}"}],
    "interrupt": [{"method": "session/cancel", "notice": true}],
    "events": [
      {"match": {"method": "session/prompt", "result.answer": ".+"}, "kind": "result", "terminal": true,
       "set": {"text": "result.answer"}},
      {"match": {"method": "session/prompt"}, "kind": "error", "terminal": true, "set": {"message": "error.message"}}
    ]
  }
}`

// playAgent plays the CLI. It answers with its process id and the earlier messages of the session.
func playAgent() {
	if !slices.Contains(os.Args, "--live") {
		said, _ := io.ReadAll(os.Stdin)
		if strings.HasPrefix(string(said), "fail") {
			fmt.Fprintln(os.Stderr, "Error: 429 rate limited")
			os.Exit(1)
		}
		_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"answer": fmt.Sprintf("cold: %s", said)})
		return
	}
	var said []string
	var hanging int // id of the turn that hangs
	var sessions int
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     int
			Method string
			Params struct{ Text string }
		}
		if json.Unmarshal(in.Bytes(), &m) != nil {
			continue
		}
		reply := map[string]any{"id": m.ID, "result": map[string]any{}}
		switch m.Method {
		case "session/new":
			said = nil
			sessions++
			reply["result"] = map[string]any{"sessionId": fmt.Sprint("s", sessions)}
		case "session/cancel":
			reply = map[string]any{"id": hanging, "error": map[string]any{"code": 1, "message": "interrupted"}}
		case "session/prompt":
			said = append(said, m.Params.Text)
			reply["result"] = map[string]any{"answer": fmt.Sprintf("%d: %s", os.Getpid(), strings.Join(said, "|"))}
			switch {
			case strings.HasPrefix(m.Params.Text, "slow"):
				time.Sleep(time.Second)
			case strings.HasPrefix(m.Params.Text, "hang"):
				hanging = m.ID
				continue
			case strings.HasPrefix(m.Params.Text, "fail"):
				delete(reply, "result")
				reply["error"] = map[string]any{"code": 1, "message": "429 rate limited"}
			}
		}
		_ = json.NewEncoder(os.Stdout).Encode(reply)
	}
}

// agent installs the CLI and returns the file of its spec.
func agent(t *testing.T) (specs string) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	binary := filepath.Join(dir, "worker-agent")
	if err := os.Symlink(exe, binary); err != nil {
		t.Skip(err)
	}
	specs = filepath.Join(dir, "lumen.json")
	require.NoError(t, os.WriteFile(specs, fmt.Appendf(nil, agentSpec, strconv.Quote(binary)), 0o600))
	return specs
}
