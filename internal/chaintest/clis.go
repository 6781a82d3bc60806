package chaintest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
)

// Play returns a scenario with these steps.
func Play(steps ...clitest.Step) clitest.Scenario { return clitest.Scenario{Steps: steps} }

// Stdout returns the step that prints a text.
func Stdout(text string) clitest.Step { return clitest.Step{Stdout: text} }

// ReadStdin is the step that reads the prompt.
var ReadStdin = clitest.Step{ReadStdin: true}

// CodexAnswer returns codex's output for an answer.
func CodexAnswer(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"type":"thread.started","thread_id":"t-1"}` + "\n" +
		`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":` + string(quoted) + `}}` + "\n" +
		`{"type":"turn.completed","usage":{"input_tokens":12,"output_tokens":7}}` + "\n"
}

// Provider returns a Provider whose program is a fake.
func Provider(t *testing.T, spec clichain.CliSpec, cfg clichain.Config, s clitest.Scenario) *clichain.Provider {
	t.Helper()
	cfg.Binary = clitest.Fake(t, spec.Binary, s)
	return clichain.NewProvider(spec, &cfg)
}

// Init1 is claude's first event.
const Init1 = `{"type":"system","subtype":"init","session_id":"s1","model":"opus"}`

// ResultLine is claude's last event.
func ResultLine(text string) string {
	return `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"` + text + `","session_id":"s1"}`
}

// RetryLine returns claude's event for a retry.
func RetryLine(status int, code string) string {
	return fmt.Sprintf(`{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":2000,`+
		`"error_status":%d,"error":%q}`+"\n", status, code)
}

var (
	// Retry429 reports a retry after a rate limit.
	Retry429 = RetryLine(429, "rate_limit")
	// Retry529 reports a retry after an overload.
	Retry529 = RetryLine(529, "overloaded")
)

// ToolUse is claude's event for a tool.
const ToolUse = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash",` +
	`"input":{"command":"ls"}}]}}`

// FailedLine is claude's last event after a failure.
func FailedLine(text string) string {
	return `{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"` + text + `"}`
}

// ClaudeSays is a claude that answers with a text.
func ClaudeSays(record, text string) clitest.Scenario {
	quoted, _ := json.Marshal(text)
	return Play(clitest.Step{Record: record}, Stdout(Init1+"\n"+
		`{"type":"result","is_error":false,"num_turns":1,"result":`+string(quoted)+`,"session_id":"`+AnID+`"}`+"\n"))
}

// ThreadAnswer is codex's output when it continues a thread.
func ThreadAnswer(id, text string) string {
	quoted, _ := json.Marshal(text)
	return `{"type":"thread.started","thread_id":"` + id + `"}` + "\n" +
		`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":` + string(quoted) + `}}` + "\n" +
		`{"type":"turn.completed"}` + "\n"
}

// SlowToEnd is a CLI at its limit that ignores signals, so that its end takes the whole grace period.
func SlowToEnd() clitest.Scenario {
	return Play(ReadStdin, clitest.Step{Ignore: []string{"INT", "TERM"}}, Stdout(Retry429), clitest.Step{Hang: true})
}

// Talkative prints events until it is killed, and ignores other signals.
var Talkative = Play(ReadStdin, clitest.Step{Ignore: []string{"INT", "TERM"}},
	clitest.Step{Stdout: `{"type":"thread.started","thread_id":"t"}` + "\n"},
	clitest.Step{FloodStdout: 1 << 20}, clitest.Step{Hang: true})
