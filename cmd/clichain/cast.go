package main

import (
	"fmt"
	"time"

	"github.com/clichain/clichain/clitest"
)

const demoPrompt = "Why is the sky blue?"

const demoAnswer = "Air scatters blue light far more than red, so blue reaches your eyes " +
	"from every part of the sky, and not only from where the sun is."

// role is what one fake CLI of the demo does, and how long it may take.
type role struct {
	scenario clitest.Scenario
	timeout  time.Duration
}

// demoCast says who plays what, by the name of the spec. A spec without a role
// is not installed. What the fakes print is what the real CLIs print, cut down.
func demoCast() map[string]role {
	const patient = 10 * time.Second
	return map[string]role{
		"claude":   {loggedOut(), patient},
		"gemini":   {atItsLimit(), patient},
		"opencode": {hanging(), time.Second},
		"codex":    {answering(), patient},
	}
}

func play(think time.Duration, lines ...string) clitest.Scenario {
	steps := []clitest.Step{{ReadStdin: true}, {Sleep: think}}
	for _, line := range lines {
		steps = append(steps, clitest.Step{Stdout: line + "\n"})
	}
	return clitest.Scenario{Steps: steps}
}

// loggedOut exits with "success", and says in the same breath that it is none.
func loggedOut() clitest.Scenario {
	return play(380*time.Millisecond,
		`{"type":"system","subtype":"init","session_id":"d00d43d8","model":"claude-opus-4-8","apiKeySource":"none"}`,
		`{"type":"assistant","message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"Not logged in · Please run /login"}]},"parent_tool_use_id":null,"session_id":"d00d43d8","error":"authentication_failed"}`,
		`{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"Not logged in · Please run /login","session_id":"d00d43d8","total_cost_usd":0}`)
}

func atItsLimit() clitest.Scenario {
	return play(560*time.Millisecond,
		`{"type":"init","session_id":"cd25bcc2","model":"gemini-2.5-pro"}`,
		fmt.Sprintf(`{"type":"message","role":"user","content":%q}`, demoPrompt),
		`{"type":"result","status":"error","error":{"message":"[API Error: You have exhausted your capacity on this model. Your quota will reset after 3h12m4s.]"},"stats":{"total_tokens":0}}`)
}

// hanging never answers, and has a helper in a session of its own that a signal
// to its process group would not reach.
func hanging() clitest.Scenario {
	return clitest.Scenario{Steps: []clitest.Step{
		{ReadStdin: true},
		{Spawn: &clitest.Spawn{Setsid: true, HoldStdout: true, Steps: []clitest.Step{{Hang: true}}}},
		{Hang: true},
	}}
}

func answering() clitest.Scenario {
	return play(700*time.Millisecond,
		`{"type":"thread.started","thread_id":"01a1f957-c9e5"}`,
		`{"type":"turn.started"}`,
		fmt.Sprintf(`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":%q}}`, demoAnswer),
		`{"type":"turn.completed","usage":{"input_tokens":12,"cached_input_tokens":0,"output_tokens":37,"reasoning_output_tokens":0}}`)
}
