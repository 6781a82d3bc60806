package bench_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
)

// fakes are scripts in place of the CLIs. They print what a CLI prints, without a model, and read their input to its
// end. If a file with their name and ".flood" exists, they print it before the answer.
var fakes = map[string]string{
	home.Claude: `#!/bin/sh
answer() {
	[ -f "$0.flood" ] && cat "$0.flood"
	case "$*" in
	*stream-json*)
		echo '{"type":"system","subtype":"init","session_id":"'$$'","model":"m1","tools":[],"mcp_servers":[],"cwd":"/","permissionMode":"default","apiKeySource":"none"}'
		echo '{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"m1","content":[{"type":"text","text":"` + hello + `"}],"usage":{"input_tokens":1,"output_tokens":1}},"session_id":"'$$'","uuid":"u1","parent_tool_use_id":null}'
		echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"` + hello + `","session_id":"'$$'","uuid":"u2","duration_ms":1,"duration_api_ms":1,"total_cost_usd":0,"usage":{"input_tokens":1,"output_tokens":1},"modelUsage":{},"permission_denials":[]}' ;;
	*) echo '` + hello + `' ;;
	esac
}
turns=0
while IFS= read -r line; do
	case $line in
	*'"type":"control_request"'*)
		id=${line#*'"request_id":"'}
		id=${id%%'"'*}
		echo '{"type":"control_response","response":{"subtype":"success","request_id":"'"$id"'","response":{"commands":[],"models":[],"agents":[],"output_style":"default","available_output_styles":[],"account":{}}}}' ;;
	*'"type":"user"'*) turns=1; answer "$@" ;;
	esac
done
[ $turns = 1 ] || answer "$@"
`,
	home.Codex: `#!/bin/sh
while IFS= read -r line; do :; done
[ -f "$0.flood" ] && cat "$0.flood"
case "$*" in
*json*)
	echo '{"type":"thread.started","thread_id":"'$$'"}'
	echo '{"type":"turn.started"}'
	echo '{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"` + hello + `"}}'
	echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}' ;;
*) echo '` + hello + `' ;;
esac
`,
}

// floods are a line with the result of a tool. TEXT stands for its text.
var floods = map[string]string{
	home.Claude: `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"TEXT"}]},"session_id":"s1","uuid":"u0","parent_tool_use_id":null}`,
	home.Codex:  `{"type":"item.completed","item":{"id":"i0","type":"command_execution","command":"cat","aggregated_output":"TEXT","exit_code":0,"status":"completed"}}`,
}

const floodSize = 100_000_000

// fakeTarget returns a target with a fake CLI.
func fakeTarget(t *testing.T, cli string, flood bool) target {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, cli)
	require.NoError(t, os.WriteFile(path, []byte(fakes[cli]), 0o700))
	if flood {
		const text = 64 << 10
		line := strings.Replace(floods[cli], "TEXT", strings.Repeat("x", text), 1) + "\n"
		file, err := os.Create(path + ".flood")
		require.NoError(t, err)
		for range floodSize/len(line) + 1 {
			_, err = file.WriteString(line)
			require.NoError(t, err)
		}
		require.NoError(t, file.Close())
	}
	return target{CLI: cli, Binary: path, Work: dir, Env: []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=" + home.Key}}
}

// startIdle starts n idle processes and kills them at the end of the test.
func startIdle(t *testing.T, n string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `for i in $(seq "$1"); do sleep 3600 & done; echo ready; wait`, "sh", n)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
}
