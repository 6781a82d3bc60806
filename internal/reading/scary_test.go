package reading

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/specs"
)

// scary are texts that a model may write, and that would be evidence of a failure if the CLI printed them.
var scary = []string{
	"Claude AI usage limit reached|1762952400", "You've hit your limit · resets 2pm (Asia/Shanghai)", "401 Unauthorized", "Rate limit exceeded",
	"API Error: 500 Internal Server Error", "prompt is too long", "Your credit balance is too low", "Not logged in · Please run /login",
	"connect ECONNREFUSED", "overloaded_error", "model not found", "No conversation found with session ID", "error: unknown option",
	"Attempt 1 failed with status 429. Retrying with backoff...", "Reconnecting... 1/5", "not running in a trusted directory", "Session not found",
	"--dangerously-skip-permissions cannot be used with root", "workspace trust required", "RESOURCE_EXHAUSTED", "ProviderAuthError",
}

func quoted(text string) string {
	data, _ := json.Marshal(text) // a string always marshals
	return string(data)
}

// answers are successful streams of each CLI, with the text wherever the model's text may occur. The last line
// is the result.
var answers = map[string]func(text string) []string{
	"claude": func(text string) []string {
		return []string{
			init1, `{"type":"stream_event","event":{"delta":{"type":"thinking_delta","thinking":` + quoted(text) + `}}}`,
			`{"type":"stream_event","event":{"delta":{"type":"text_delta","text":` + quoted(text) + `}}}`,
			`{"type":"assistant","message":{"content":[{"type":"text","text":` + quoted(text) + `},{"type":"tool_use","id":"1","name":"Bash","input":{"command":` + quoted(text) + `}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":` + quoted(text) + `,"is_error":true}]}}`,
			`{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":` + quoted(text) + `,"permission_denials":[` + quoted(text) + `]}`,
		}
	},
	"codex": func(text string) []string {
		return []string{
			`{"type":"thread.started","thread_id":"t"}`, `{"type":"item.completed","item":{"type":"reasoning","text":` + quoted(text) + `}}`,
			`{"type":"item.completed","item":{"type":"command_execution","aggregated_output":` + quoted(text) + `,"exit_code":1}}`,
			`{"type":"item.completed","item":{"type":"error","message":` + quoted(text) + `}}`, // a warning
			`{"type":"item.completed","item":{"type":"agent_message","text":` + quoted(text) + `}}`,
			`{"type":"turn.completed","usage":{}}`,
		}
	},
	"gemini": func(text string) []string {
		return []string{
			`{"type":"init","session_id":"s"}`, `{"type":"message","role":"user","content":` + quoted(text) + `}`,
			`{"type":"tool_result","tool_id":"1","status":"error","output":` + quoted(text) + `}`,
			`{"type":"message","role":"assistant","delta":true,"content":` + quoted(text) + `}`, `{"type":"result","status":"success"}`,
		}
	},
	"opencode": answerOfOpenCode,
	"kilo":     answerOfOpenCode,
	"cursor-agent": func(text string) []string {
		return []string{
			`{"type":"system","subtype":"init","session_id":"s"}`, `{"type":"thinking","subtype":"delta","text":` + quoted(text) + `}`,
			`{"type":"assistant","timestamp_ms":1,"message":{"content":[{"type":"text","text":` + quoted(text) + `}]}}`,
			`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"shellToolCall":{"result":` + quoted(text) + `}}}`,
			`{"type":"assistant","message":{"content":[{"type":"text","text":` + quoted(text) + `}]}}`,
			`{"type":"result","subtype":"success","is_error":false,"result":` + quoted(text) + `}`,
		}
	},
	"copilot": func(text string) []string {
		return []string{
			`{"type":"user.message","data":{"content":` + quoted(text) + `}}`,
			`{"type":"assistant.reasoning_delta","data":{"deltaContent":` + quoted(text) + `}}`,
			`{"type":"assistant.message","data":{"model":"m1","content":"","toolRequests":[{"name":"bash","arguments":{"command":` + quoted(text) + `}}]}}`,
			`{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"bash","arguments":{"command":` + quoted(text) + `}}}`,
			`{"type":"tool.execution_complete","data":{"toolCallId":"1","success":false,"result":{"content":` + quoted(text) + `},"error":{"message":` + quoted(text) + `}}}`,
			`{"type":"assistant.message_delta","data":{"deltaContent":` + quoted(text) + `}}`,
			`{"type":"assistant.message","data":{"model":"m1","content":` + quoted(text) + `,"toolRequests":[]}}`,
			`{"type":"result","sessionId":"s","exitCode":0}`,
		}
	},
	"kimi": func(text string) []string {
		return []string{
			`{"role":"meta","type":"system.version","version":"2.1.0"}`,
			`{"role":"assistant","tool_calls":[{"type":"function","id":"1","function":{"name":"Bash","arguments":` + quoted(text) + `}}]}`,
			`{"role":"tool","tool_call_id":"1","content":` + quoted(text) + `}`, `{"role":"assistant","content":` + quoted(text) + `}`,
			`{"role":"meta","type":"session.resume_hint","session_id":"session_s"}`,
		}
	},
	"pi": func(text string) []string {
		said := `{"role":"assistant","content":[{"type":"text","text":` + quoted(text) + `}],"stopReason":"stop"}`
		return []string{
			`{"type":"session","id":"s"}`, `{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":` + quoted(text) + `}]}}`,
			`{"type":"message_update","assistantMessageEvent":{"type":"thinking_delta","delta":` + quoted(text) + `}}`,
			`{"type":"tool_execution_start","toolCallId":"1","toolName":"bash","args":{"command":` + quoted(text) + `}}`,
			`{"type":"tool_execution_end","toolCallId":"1","toolName":"bash","result":{"content":[{"type":"text","text":` + quoted(text) + `}]},"isError":true}`,
			`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":` + quoted(text) + `}}`,
			`{"type":"message_end","message":` + said + `}`, `{"type":"agent_end","messages":[` + said + `]}`,
		}
	},
	"cline": func(text string) []string {
		event := func(fields string) string { return `{"type":"agent_event","event":{` + fields + `}}` }
		return []string{
			`{"type":"hook_event","hookEventName":"agent_start"}`, event(`"type":"iteration_start","iteration":1`),
			event(`"type":"content_start","contentType":"reasoning","reasoning":` + quoted(text)),
			event(`"type":"content_start","contentType":"tool","toolCallId":"1","toolName":"run_commands","input":{"commands":[` + quoted(text) + `]}`),
			event(`"type":"content_end","contentType":"tool","toolCallId":"1","toolName":"run_commands","error":` + quoted(text)),
			event(`"type":"content_start","contentType":"text","text":` + quoted(text) + `,"accumulated":` + quoted(text)),
			event(`"type":"content_end","contentType":"text","text":` + quoted(text)),
			`{"type":"run_result","finishReason":"completed","text":` + quoted(text) + `,"model":{"id":"m1"}}`,
		}
	},
	"qwen": func(text string) []string {
		return []string{
			`{"type":"system","subtype":"init","session_id":"s"}`,
			`{"type":"stream_event","event":{"delta":{"type":"thinking_delta","thinking":` + quoted(text) + `}}}`,
			`{"type":"stream_event","event":{"delta":{"type":"text_delta","text":` + quoted(text) + `}}}`,
			`{"type":"assistant","message":{"content":[{"type":"text","text":` + quoted(text) + `},{"type":"tool_use","id":"1","name":"x","input":{"command":` + quoted(text) + `}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":` + quoted(text) + `,"is_error":true}]}}`,
			`{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":` + quoted(text) + `,"usage":{"output_tokens":7}}`,
		}
	},
	"agy": func(text string) []string {
		step := func(fields string) string { return `{"event":"step_update","step_update":{` + fields + `}}` }
		return []string{
			`{"event":"init","conversation_id":"c"}`,
			step(`"step_type":"tool","state":"ACTIVE","tool_name":"run_command","tool_info":{"parameters":{"CommandLine":` + quoted(text) + `}}`),
			step(`"step_type":"tool","state":"ERROR","tool_name":"run_command","tool_info":{"error":` + quoted(text) + `}`),
			step(`"step_type":"agent_response","state":"DONE","text_delta":` + quoted(text)),
			`{"event":"result","result":{"status":"SUCCESS","response":` + quoted(text) + `,"usage":{"input_tokens":5,"output_tokens":7}}}`,
		}
	},
}

func answerOfOpenCode(text string) []string {
	return []string{
		`{"type":"step_start","sessionID":"s"}`, `{"type":"reasoning","part":{"text":` + quoted(text) + `}}`,
		`{"type":"tool_use","part":{"callID":"1","tool":"bash","state":{"status":"error","error":` + quoted(text) + `}}}`,
		`{"type":"text","sessionID":"s","part":{"text":` + quoted(text) + `}}`, `{"type":"step_finish","part":{"reason":"stop"}}`,
	}
}

func TestModelTextIsNeverEvidence(t *testing.T) {
	for _, spec := range specs.Every() {
		t.Run(spec.Name, func(t *testing.T) {
			replay := ReplayBy(spec)
			for _, text := range scary {
				lines := answers[spec.Name](text)
				got, _, failure, _ := replay(Recording{Output: clispec.OutputStream, Stdout: strings.Join(lines, "\n") + "\n"})
				require.Nil(t, failure, "%q: %v", text, failure)
				require.Equal(t, text, got)
			}
			all := strings.Join(scary, "\n")
			got, _, failure, _ := replay(Recording{Output: clispec.OutputText, Stdout: all + "\n"})
			require.Nil(t, failure)
			require.Equal(t, all, got, "as plain text")
		})
	}
}

// If a run fails later, its model text is still no evidence.
func TestModelTextOfFailedRunIsNoEvidence(t *testing.T) {
	for _, spec := range specs.Every() {
		replay := ReplayBy(spec)
		for _, text := range scary {
			lines := answers[spec.Name](text)
			whole := strings.Join(lines[:len(lines)-1], "\n")
			for name, rec := range map[string]Recording{
				"stream without a result":   {Output: clispec.OutputStream, Stdout: whole + "\n"},
				"stream cut in a line":      {Output: clispec.OutputStream, Stdout: whole[:len(whole)-3]},
				"document without a result": {Output: clispec.OutputJSON, Stdout: "[" + strings.Join(lines[:len(lines)-1], ",") + "]"},
				"document cut short":        {Output: clispec.OutputJSON, Stdout: "[" + strings.Join(lines[:len(lines)-1], ",")},
				"document over lines":       {Output: clispec.OutputJSON, Stdout: fmt.Sprintf("{\n  \"response\": %s,\n  \"stats\": {", quoted(text))},
			} {
				rec.ExitCode, rec.Stderr = 1, "Segmentation fault"
				_, _, failure, _ := replay(rec)
				require.NotNil(t, failure)
				require.Equal(t, call.ReasonExit, failure.Reason, "%s: %s: %q: %v", spec.Name, name, text, failure)
			}
		}
	}
}

// inFront are texts that may precede an event on its line.
var inFront = []string{"data: ", "[12:00:01] ", "Loading...\r", "warning: old node ", "[", "(node:1) x", "\x1b[2K> "}

// before prefixes each line with a text.
func before(text string, lines []string) (all string) {
	for _, line := range lines {
		all += text + line + "\n"
	}
	return all
}

// A line with other text before its event is not read, and the model text in it is no evidence.
func TestModelTextAfterPrefixIsNoEvidence(t *testing.T) {
	for _, spec := range specs.Every() {
		t.Run(spec.Name, func(t *testing.T) {
			replay := ReplayBy(spec)
			for i, text := range scary {
				lines := answers[spec.Name](text)
				lines = lines[:len(lines)-1]
				prefix := inFront[i%len(inFront)]
				events, pretty := before(prefix, lines), fmt.Sprintf("%s{\n  \"response\": %s,\n  \"stats\": {", prefix, quoted(text))
				last := lines[len(lines)-1]
				middle := strings.Index(last, quoted(text)) + 1 + len(quoted(text))/2
				for name, rec := range map[string]Recording{
					"stream":              {Output: clispec.OutputStream, Stdout: events},
					"stream, cut":         {Output: clispec.OutputStream, Stdout: events[:len(events)-4]},
					"stream, with a tail": {Output: clispec.OutputStream, Stdout: strings.ReplaceAll(events, "\n", " done\n")},
					"two on a line":       {Output: clispec.OutputStream, Stdout: before(prefix+lines[0]+" and ", lines)},
					"stream, in two":      {Output: clispec.OutputStream, Stdout: last[:middle] + "warning: old node\n" + text + last[middle:] + "\n"},
					"unknown events":      {Output: clispec.OutputStream, Stdout: prefix + `{"type":"new","text":` + quoted(text) + "}\n"},
					"live":                {Output: clispec.OutputStream, Stderr: events},
					"document":            {Output: clispec.OutputJSON, Stdout: prefix + strings.Join(lines, prefix) + "\n"},
					"document, cut":       {Output: clispec.OutputJSON, Stdout: prefix + "[" + strings.Join(lines, ",")},
					"document over lines": {Output: clispec.OutputJSON, Stdout: pretty},
				} {
					rec.ExitCode = 1
					rec.Stderr += "Segmentation fault\n"
					_, _, failure, events := replay(rec)
					require.NotNil(t, failure)
					require.Equal(t, call.ReasonExit, failure.Reason, "%s: %q: %q: %v", name, prefix, text, failure)
					for _, e := range events {
						require.NotEqual(t, call.EventRetry, e.Kind, "%s: %q", name, text)
					}
				}
			}
		})
	}
}

// The CLI's own text on such a line is evidence: the text before the event, and the failure that a service or
// an event reports.
func TestOwnTextBesideEvent(t *testing.T) {
	harmless := blockLine("rate limit exceeded")
	for _, test := range []struct {
		name, stdout string
		want         call.Reason
	}{
		{"words in front", "API Error: 529 " + harmless, call.ReasonOverloaded},
		{"words behind", "x " + harmless + " API Error: 529", call.ReasonOverloaded},
		{"a failure behind words", "x " + failedLine("API Error: 529 overloaded"), call.ReasonOverloaded},
		{"a service's answer", `Error: {"error":{"message":"prompt is too long"}}`, call.ReasonContextOverflow},
		{"a service's answer with a type", `API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`, call.ReasonContextOverflow},
		{"the error in a service's answer", `Error: {"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}`, call.ReasonRateLimited},
		{"brackets in words", "API Error: 529 {x} [y] {", call.ReasonOverloaded},
		{"after a broken event", harmless[:20] + "\nAPI Error: 529\nx", call.ReasonOverloaded},
		{"nothing", "x " + harmless, call.ReasonExit},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, output := range []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON} {
				if output == clispec.OutputJSON && strings.HasPrefix(test.stdout, "{") {
					continue // the whole output may be the document
				}
				_, _, failure, _ := Replay(specs.Claude(), Recording{Output: output, Stdout: test.stdout + "\n", ExitCode: 1})
				require.NotNil(t, failure)
				require.Equal(t, test.want, failure.Reason, "%s: %v", output, failure)
			}
		})
	}
}

// An event that was not read may have been a tool use, so the run counts as incompletely read.
func TestEventAfterPrefixIsLost(t *testing.T) {
	for stdout, lost := range map[string]bool{
		"x " + toolUse + "\n":                  true,
		"x " + toolUse[:len(toolUse)-9] + "\n": true,
		"x {\"port\":80}\nconfig {\n":          false,
	} {
		spec := specs.Claude()
		r := &Reading{
			Name: spec.Name, Program: decode.Compile(spec.Events), Judge: judge.New(&spec), Output: clispec.OutputStream,
			Emit: func(call.Event) {}, Stop: func(error) {}, Ended: func() bool { return false },
		}
		lines, _ := r.Streams()
		feed(lines, init1+"\n"+stdout)
		ev := r.Evidence(proc.Result{ExitCode: 1, TreeClean: true}, 0)
		require.Equal(t, lost, ev.Lost, "%q", stdout)
		require.Equal(t, lost, len(ev.Tally.Warnings) > 0, "%q", stdout)
	}
}
