package bench_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
)

//go:embed peers.mjs
var peers string

// order is a job in the form that peers.mjs reads.
type order struct {
	CLI     string            `json:"cli"`
	Work    string            `json:"work"`
	Env     map[string]string `json:"env"`
	Prompts []string          `json:"prompts"`
	Slots   int               `json:"slots"`
	Warm    bool              `json:"warm"`
	Full    bool              `json:"full"`
	Lean    bool              `json:"lean"`
	Timeout int64             `json:"timeout"`
}

// byLibraryOfNpm calls the CLI with an npm library. Node.js has loaded the library before the first job.
func byLibraryOfNpm(name string) func(t *testing.T, pkg string, s target) func(job) outcome {
	return func(t *testing.T, pkg string, s target) func(job) outcome {
		t.Helper()
		modules, node := home.Peer(t, pkg)
		cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "--eval", peers, name)
		cmd.Dir, cmd.Env = filepath.Dir(modules), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		var stderr bytes.Buffer
		cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = in.Close()
			_ = cmd.Wait()
		})
		orders, answers := json.NewEncoder(in), json.NewDecoder(out)
		var ready outcome
		require.NoError(t, answers.Decode(&ready), "%s", &stderr)
		return func(j job) (o outcome) {
			timer := time.AfterFunc(bound, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
			require.NoError(t, orders.Encode(j.order(s)))
			require.NoError(t, answers.Decode(&o), "%s", &stderr)
			return o
		}
	}
}

func (j job) order(s target) order {
	env := map[string]string{}
	for _, pair := range s.Env {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return order{s.Binary, s.Work, env, j.Prompts, max(j.Slots, 1), j.Warm, j.Full, j.Lean, j.Timeout.Milliseconds()}
}
