package guide_test

import (
	"fmt"
	"strings"

	"github.com/clichain/clichain/clitest"
)

// These outputs of the fakes have no scenario in package clitest.
const (
	begins   = `{"type":"system","subtype":"init","session_id":"00000000-0000-4000-8000-000000000001"}` + "\n"
	delta    = `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"Bend it"}}}` + "\n"
	writes   = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Write","input":{}}]}}` + "\n"
	overload = `{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529 Overloaded"}` + "\n"
	ready    = `{"type":"control_response","response":{"subtype":"success","request_id":"clichain-1","response":{}}}` + "\n"
	hook     = `{"type":"result","subtype":"success","is_error":false,"result":"A hook."}` + "\n"
)

func play(text string, status int) clitest.Scenario {
	return clitest.Scenario{Steps: []clitest.Step{{ReadStdin: true}, {Stdout: text}, clitest.Exit(status)}}
}

// truncated is a claude whose service fails during the answer. wrote fails after it has written a file.
var truncated, wrote = play(begins+delta+overload, 1), play(begins+writes+overload, 1)

// stays is a claude in its live mode, which answers each message with the same text. The message "/clear" is answered
// with the id of the new session.
var stays = func() clitest.Scenario {
	steps := []clitest.Step{{ReadLine: true}, {Stdout: ready}}
	for message := range 10 {
		said := fmt.Sprintf(`{"session_id":"00000000-0000-4000-8000-00000000000%d",`, (message+1)/2)
		result := said + strings.TrimPrefix(hook, "{")
		steps = append(steps, clitest.Step{ReadLine: true}, clitest.Step{Stdout: said + `"type":"system","subtype":"init"}` + "\n" + result})
	}
	return clitest.Scenario{Steps: steps}
}()

// inTurn plays one scenario at the first start, and the next scenario at later starts.
func inTurn(first, next clitest.Scenario) clitest.Scenario {
	next.Cases = append(next.Cases, clitest.Case{Once: true, Steps: first.Steps})
	return next
}
