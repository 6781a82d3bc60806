package failover_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// inits are first lines of streams of CLIs whose only other mode is text.
var inits = map[string]string{
	"codex":    `{"type":"thread.started","thread_id":"01a1fb78-47e0-7603-82cf-714c60030491"}` + "\n",
	"opencode": `{"type":"step_start","sessionID":"ses_1","part":{"type":"step-start"}}` + "\n",
	"kilo":     `{"type":"step_start","sessionID":"ses_1","part":{"type":"step-start"}}` + "\n",
	"copilot":  `{"type":"session.info","data":{}}` + "\n" + `{"type":"assistant.turn_start","data":{"turnId":"0"}}` + "\n",
	"pi":       `{"type":"session","id":"s","cwd":"/"}` + "\n",
}

// A CLI that prints only its first event, whatever the request, gives no answer.
func TestEventsAreNoTextAnswer(t *testing.T) {
	t.Parallel()
	for name, line := range inits {
		spec, ok := specs.ByName(name)
		require.True(t, ok)
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			_, err := chaintest.Provider(t, spec, clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(line))).Complete(context.WithoutCancel(t.Context()), clichain.Prompt("hi"))
			failed := chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
			require.Len(t, failed.Earlier, 1, "it was run again in text mode")
			require.Contains(t, failed.Message, "events")
		})
		t.Run(name+" answers in text mode", func(t *testing.T) {
			clitest.NoLeaks(t)
			const answer = `{"type":"turn.started","note":"what the first event looks like"}` + "\nas asked"
			begun := clitest.Case{Once: true, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(line)}}
			resp, err := chaintest.Provider(t, spec, clichain.Config{}, clitest.Scenario{Cases: []clitest.Case{begun}, Steps: []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(answer + "\n")}}).
				Complete(context.WithoutCancel(t.Context()), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, answer, resp.Text)
		})
	}
}

// If the caller chose text mode, a stream with a session is no answer. An answer in the form of an event is one.
func TestTextModeOfACaller(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, text string) (*clichain.Response, error) {
		clitest.NoLeaks(t)
		return chaintest.Provider(t, specs.Codex(), clichain.Config{Output: clispec.OutputText}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(text))).
			Complete(context.WithoutCancel(t.Context()), clichain.Prompt("hi"))
	}
	_, err := run(t, inits["codex"]+`{"type":"turn.started"}`+"\n")
	chaintest.RequireReason(t, clichain.ReasonBadOutput, err)
	resp, err := run(t, `{"type":"error","message":"as the schema wants it"}`+"\n")
	require.NoError(t, err)
	require.Equal(t, `{"type":"error","message":"as the schema wants it"}`, resp.Text)
}

// The other modes of a CLI hide its tools, so that a run in one of them may have changed something, and no other
// backend could be asked.
func TestNoStreamFallbackAtWriteAccess(t *testing.T) {
	t.Parallel()
	for access, runs := range map[clichain.Access]int{
		clichain.AccessNone: 2, clichain.AccessRead: 2, clichain.AccessWrite: 1, clichain.AccessFull: 1,
	} {
		t.Run(access.String(), func(t *testing.T) {
			clitest.NoLeaks(t)
			first := chaintest.Provider(t, specs.Claude(), clichain.Config{Env: []string{"IS_SANDBOX=1"}}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.Init1+"\n")))
			next := &chaintest.Backend{ID: "codex"}
			req := clichain.Prompt("hi")
			req.Access = access
			if access != clichain.AccessNone {
				req.Dir = t.TempDir()
			}
			resp, err := clichain.ChainOf([]clichain.Backend{first, next}, nil).Complete(context.WithoutCancel(t.Context()), req)
			require.NoError(t, err)
			require.Equal(t, 1, next.Asked)
			require.Equal(t, "codex", resp.Backend)
			require.Len(t, resp.Attempts, runs)
		})
	}
}
