package session_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

const (
	agyID    = "6f1c2a44-0000-4000-8000-000000000001"
	otherAgy = "6f1c2a44-0000-4000-8000-000000000002"
)

// agyAnswer returns the output of agy for an answer in a conversation.
func agyAnswer(id, text string) string {
	return fmt.Sprintf(`{"event":"init","conversation_id":%q,"init":{"model":"gemini-3-pro"}}`+"\n"+
		`{"event":"result","result":{"conversation_id":%q,"status":"SUCCESS","response":%q,"num_turns":2,"usage":{"input_tokens":5,"output_tokens":7}}}`+"\n", id, id, text)
}

// agy begins another conversation if it does not know the requested one, and reports that only on stderr. That is no
// answer.
func TestAgyForgetsTheConversation(t *testing.T) {
	for id, ok := range map[string]bool{agyID: true, otherAgy: false} {
		clitest.NoLeaks(t)
		record := filepath.Join(t.TempDir(), "record")
		p := chaintest.Provider(t, specs.Agy(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record},
			clitest.Step{Stderr: "warning: conversation not found, starting a new one\n"}, chaintest.Stdout(agyAnswer(id, "hello"))))
		req := clichain.Prompt("hi")
		req.Session = "agy:" + agyID
		resp, err := p.Complete(t.Context(), req)
		got, readErr := clitest.ReadRecord(record)
		require.NoError(t, readErr)
		require.Contains(t, strings.Join(got.Args, " "), "--conversation "+agyID)
		if !ok {
			chaintest.RequireReason(t, clichain.ReasonBadSession, err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "hello", resp.Text)
	}
}

// At its own time limit agy reports a partial answer as a success. The chain asks the next backend.
func TestAgyTimeLimit(t *testing.T) {
	clitest.NoLeaks(t)
	half := `{"event":"step_update","step_update":{"step_index":1,"state":"ACTIVE","step_type":"agent_response","text_delta":"half"}}` + "\n" +
		`{"event":"result","result":{"status":"SUCCESS","response":"half","usage":{"input_tokens":0,"output_tokens":0}}}` + "\n"
	for name, steps := range map[string][]clitest.Step{
		"said":      {{Stderr: "[agy] print timeout after 3s with turn in progress; returning partial output\n"}, chaintest.Stdout(half)},
		"said late": {chaintest.Stdout(half), {Sleep: 50 * time.Millisecond}, {Stderr: "[agy] print timeout after 3s with turn in progress; returning partial output\n"}},
		"not said":  {chaintest.Stdout(half)},
	} {
		t.Run(name, func(t *testing.T) {
			agy := chaintest.Provider(t, specs.Agy(), clichain.Config{}, chaintest.Play(steps...))
			next := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("hello"))))
			resp, err := clichain.ChainOf([]clichain.Backend{agy, next}, nil).Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, "codex", resp.Backend)
			chaintest.RequireReason(t, clichain.ReasonTimeout, resp.Attempts[0].Err)
		})
	}
}

// A prompt that agy would parse as a flag or as a command gets a line break in front.
func TestAgyPrompts(t *testing.T) {
	for prompt, want := range map[string]string{"hi": "hi", "--help me": "\n--help me", "/usage": "\n/usage"} {
		record := filepath.Join(t.TempDir(), "record")
		p := chaintest.Provider(t, specs.Agy(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(agyAnswer(agyID, "hello"))))
		_, err := p.Complete(t.Context(), clichain.Prompt(prompt))
		require.NoError(t, err)
		got, err := clitest.ReadRecord(record)
		require.NoError(t, err)
		require.Equal(t, []string{"-p", want}, got.Args[len(got.Args)-2:], "the flag takes what is behind it")
	}
}
