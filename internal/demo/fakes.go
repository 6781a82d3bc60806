package demo

import (
	"fmt"
	"time"

	"github.com/clichain/clichain/clitest/fake"
)

const (
	prompt = "Why is the sky blue?"
	answer = "Air scatters blue light far more than red, so blue reaches your eyes " +
		"from every part of the sky, and not only from where the sun is."
	hanging = "opencode" // it never answers
)

// fakes maps names of specs to fakes. They print a shortened output of the real CLIs.
func fakes() map[string]fake.Scenario {
	return map[string]fake.Scenario{
		"claude": LoggedOut(),
		"gemini": scenario(560*time.Millisecond,
			`{"type":"init","session_id":"cd25bcc2","model":"gemini-2.5-pro"}`,
			fmt.Sprintf(`{"type":"message","role":"user","content":%q}`, prompt),
			`{"type":"result","status":"error","error":{"message":"[API Error: You have exhausted your capacity on `+
				`this model. Your quota will reset after 3h12m4s.]"},"stats":{"total_tokens":0}}`),
		// Its helper runs in a separate session, which a signal to the process group does not reach.
		hanging: {Steps: []fake.Step{
			{ReadStdin: true},
			{Spawn: &fake.Spawn{Setsid: true, HoldStdout: true, Steps: []fake.Step{{Hang: true}}}},
			{Hang: true},
		}},
		"codex": scenario(700*time.Millisecond,
			`{"type":"thread.started"}`, // without an id, so that clichain records no session
			`{"type":"turn.started"}`,
			fmt.Sprintf(`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":%q}}`,
				answer),
			`{"type":"turn.completed","usage":{"input_tokens":12,"cached_input_tokens":0,"output_tokens":37,`+
				`"reasoning_output_tokens":0}}`),
	}
}

// LoggedOut reports "success" in its result, together with an error.
func LoggedOut() fake.Scenario {
	return scenario(380*time.Millisecond,
		`{"type":"system","subtype":"init","session_id":"d00d43d8","model":"claude-opus-4-8","apiKeySource":"none"}`,
		`{"type":"assistant","message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text",`+
			`"text":"Not logged in · Please run /login"}]},"parent_tool_use_id":null,"session_id":"d00d43d8",`+
			`"error":"authentication_failed"}`,
		`{"type":"result","subtype":"success","is_error":true,"num_turns":1,`+
			`"result":"Not logged in · Please run /login","session_id":"d00d43d8","total_cost_usd":0}`)
}

// scenario makes a fake that reads its prompt, waits for a while and prints lines.
func scenario(think time.Duration, lines ...string) fake.Scenario {
	steps := []fake.Step{{ReadStdin: true}, {Sleep: think}}
	for _, line := range lines {
		steps = append(steps, fake.Step{Stdout: line + "\n"})
	}
	return fake.Scenario{Steps: steps}
}
