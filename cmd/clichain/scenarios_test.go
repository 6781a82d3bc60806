package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/demo"
)

// scenario returns the scenario of a fake. A fake with the name of a real CLI prints the format of that CLI.
func scenario(name, kind, text string) clitest.Scenario {
	steps := []clitest.Step{{ReadStdin: true}}
	switch kind {
	case "answer":
		steps = append(steps, answer(name, text)...)
	case "write": // writes a file, whose name and content are in the text
		file, content, _ := strings.Cut(text, "=")
		steps = append(steps, clitest.Step{Write: map[string]string{file: content + "\n"}})
		steps = append(steps, answer(name, "I wrote "+file+".")...)
	case "record":
		steps = append([]clitest.Step{{Record: text}}, answer(name, "recorded")...)
	case "echo":
		steps = append(steps, clitest.Step{Echo: true})
	case "loggedout":
		steps = append(steps, demo.LoggedOut().Steps[2:]...)
	case "limit":
		steps = append(steps, stdout(`{"type":"turn.failed","error":{"message":"You've hit your usage limit. Try again in 3 hours."}}`)...)
		steps = append(steps, clitest.Exit(1))
	case "await": // prints text, and answers when a file exists
		steps = append(steps, stdout(
			`{"type":"system","subtype":"init","session_id":"`+claudeSession+`","model":"claude-opus-4-8","apiKeySource":"none"}`,
			delta("started\n"))...)
		steps = append(steps, clitest.Step{Await: text})
		steps = append(steps, answer(name, "answered at last")...)
	case "tool":
		steps = append(steps, stdout(
			`{"type":"assistant","parent_tool_use_id":null,"message":{"content":[{"type":"text","text":"Let me look."}]}}`,
			`{"type":"assistant","parent_tool_use_id":null,"message":{"content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"1"}]}}`)...)
		steps = append(steps, answer(name, text)...)
	case "retry":
		steps = append(steps, stdout(`{"type":"system","subtype":"api_retry","attempt":2,"retry_delay_ms":1,"error_status":529,"error":"overloaded"}`)...)
		steps = append(steps, answer(name, text)...)
	case "windows": // answers, and reports that a share of the five hours of a plan is used
		steps = append(steps, stdout(fmt.Sprintf(`{"type":"rate_limit_event","rate_limit_info":{"status":"allowed",`+
			`"unifiedWindows":{"five_hour":{"utilization":%s,"resetsAt":%d}}}}`, text, time.Now().Add(time.Hour).Unix()))...)
		steps = append(steps, answer(name, "fine")...)
	case "think":
		steps = append(steps, stdout(
			`{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":9000}}`,
			`{"type":"stream_event","parent_tool_use_id":null,"event":{"delta":{"type":"thinking_delta","thinking":"hm"}}}`,
			`{"type":"stream_event","parent_tool_use_id":null,"event":{"delta":{"type":"thinking_delta","thinking":", well"}}}`)...)
		steps = append(steps, answer(name, text)...)
	case "crash":
		steps = append(steps, clitest.Step{Stderr: text + "\n"}, clitest.Exit(7))
	case "refuse once": // a check that refuses the first answer
		refused := append(steps, clitest.Step{Stderr: text + "\n"}, clitest.Exit(1))
		return clitest.Scenario{Cases: []clitest.Case{{Once: true, Steps: refused}}, Steps: steps}
	case "version":
		steps = stdout(text)
	case "hang":
		steps = append(steps, clitest.Step{Hang: true})
	case "stubborn": // prints text, has children that try to survive, and ignores SIGINT and SIGTERM
		hang := []clitest.Step{{Ignore: []string{"INT", "TERM"}}, {Hang: true}}
		steps = append(steps, clitest.Step{Ignore: []string{"INT", "TERM"}},
			clitest.Step{Spawn: &clitest.Spawn{Setsid: true, HoldStdout: true, Steps: hang}},
			clitest.Step{Spawn: &clitest.Spawn{Daemon: true, Steps: hang}})
		steps = append(steps, stdout(delta("started\n"))...)
		steps = append(steps, clitest.Step{Hang: true})
	default:
		panic("no such kind of fake: " + kind)
	}
	return clitest.Scenario{Steps: steps}
}

func stdout(lines ...string) (steps []clitest.Step) {
	for _, line := range lines {
		steps = append(steps, clitest.Step{Stdout: line + "\n"})
	}
	return steps
}

func delta(text string) string {
	return fmt.Sprintf(`{"type":"stream_event","parent_tool_use_id":null,"event":{"delta":{"type":"text_delta","text":%q}}}`, text)
}

// The sessions of the fakes that answer.
const (
	claudeSession = "0199abcd-0000-4000-8000-00000000000a"
	codexSession  = "0199abcd-0000-4000-8000-00000000000b"
)

// answer returns steps that print a text in the format of the named CLI, or as plain text.
func answer(name, text string) []clitest.Step {
	switch name {
	case "claude":
		half := len(text) / 2
		return stdout(
			`{"type":"system","subtype":"init","session_id":"`+claudeSession+`","model":"claude-opus-4-8","apiKeySource":"none"}`,
			delta(text[:half]), delta(text[half:]),
			fmt.Sprintf(`{"type":"assistant","parent_tool_use_id":null,"message":{"content":[{"type":"text","text":%q}]}}`, text),
			fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":%q,"session_id":%q,"total_cost_usd":0.01,"usage":{"input_tokens":12,"output_tokens":7}}`, text, claudeSession))
	case "codex":
		return stdout(
			`{"type":"thread.started","thread_id":"`+codexSession+`"}`,
			fmt.Sprintf(`{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":%q}}`, text),
			`{"type":"turn.completed","usage":{"input_tokens":12,"output_tokens":7}}`)
	}
	if name == "agy" {
		return stdout(
			`{"event":"init","conversation_id":"c1","init":{"model":"gemini-3-pro"}}`,
			fmt.Sprintf(`{"event":"result","result":{"status":"SUCCESS","response":%q,"usage":{"input_tokens":12,"output_tokens":7}}}`, text))
	}
	return stdout(text)
}
