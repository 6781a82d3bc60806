package live_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
)

// agentSpec returns the spec of a dialect.
func agentSpec(dialect string) clichain.CliSpec {
	method, params := "method", "params."
	if dialect == "control" {
		method, params = "type", ""
	}
	rule := func(name string, kind clichain.EventKind, set ...string) clispec.EventRule {
		r := clispec.EventRule{Match: map[string]string{method: name}, Kind: kind, Set: map[string]string{}}
		for i := 0; i < len(set); i += 2 {
			r.Set[set[i]] = set[i+1]
		}
		return r
	}
	done := rule("done", clichain.EventResult, "failed", params+"failed", "message", params+"message", "input_tokens", params+"tokens", "cost_usd", params+"cost", "session", params+"session")
	done.Terminal = true
	ask := clispec.AskRule{
		Method: "permit", Tool: "tool", Input: "input", Options: "options", OptionID: "id", OptionKind: "kind",
		Allow: `{"chosen":{option:json},"input":{input}}`, AllowKind: "allow[-_]once",
		Deny: `{"chosen":{option:json}}`, DenyKind: "reject[-_]once", Otherwise: `{"chosen":null}`,
	}
	spec := clichain.CliSpec{
		Name: "lumen", Binary: "lumen", PassEnv: []string{"AGENT_*"}, Outputs: []clispec.OutputMode{clispec.OutputStream, clispec.OutputText},
		Transports: []clispec.Transport{clispec.TransportStdin},
		Args: []clispec.ArgRow{
			{Args: []string{"--live"}, When: clispec.When{Output: []clispec.OutputMode{clispec.OutputLive}}},
			{Args: []string{"--model", "{model}"}, When: clispec.When{Set: []string{"model"}}},
			{Args: []string{"--write"}, When: clispec.When{Access: []clichain.Access{clichain.AccessWrite, clichain.AccessRead, clichain.AccessFull}}},
		},
		Events: []clispec.EventRule{rule("delta", clichain.EventDelta, "text", params+"text"), rule("tool", clichain.EventToolUse, "name", params+"name"), done},
		Login:  clispec.LoginRules{Ways: []clispec.LoginWay{{Files: []clispec.FileFact{{Path: "${AGENT_LOGIN}"}}, Unsure: true}, {Unsure: true}}},
		Lines: []clispec.LineRule{
			{Pattern: `(?i)not logged in|invalid api key`, Reason: clichain.ReasonUnauthenticated},
			{Pattern: `no such session`, Reason: clichain.ReasonBadSession},
		},
	}
	live := &spec.Live
	live.Ready = []clispec.LiveMessage{{Method: "initialize"}}
	live.Interrupt = []clispec.LiveMessage{{Method: "interrupt"}}
	live.Asks = []clispec.AskRule{ask}
	switch dialect {
	case "control":
		live.Envelope, live.Of = clispec.EnvelopeControl, "thread"
		spec.Sessions = clispec.SessionRules{ID: `s-\d+`, Cumulative: []string{"cost_usd"}}
		live.Cumulative = spec.Sessions.Cumulative
		spec.Args = append(spec.Args, clispec.ArgRow{Args: []string{"--resume", "{session}"}, When: clispec.When{Set: []string{"session"}}},
			clispec.ArgRow{Args: []string{"--session-id", "{session_id}"}, When: clispec.When{Set: []string{"session_id"}}},
			clispec.ArgRow{Args: []string{"--forget"}, When: clispec.When{Set: []string{"no_session_persistence"}}})
		live.Turn = []clispec.LiveMessage{{Method: "user", Notice: true, Params: `{"message":{"content":{prompt:json}}}`}}
		live.Clear = []clispec.LiveMessage{{Method: "user", Notice: true, Params: `{"message":{"content":"/clear"}}`}}
	case "threads":
		live.Envelope, live.Context, live.TurnID, live.Of = clispec.EnvelopeJSONRPC, "thread.id", "turn.id", "params.thread"
		live.OfTurn = "params.turn"
		live.Open = []clispec.LiveMessage{{Method: "thread/start"}}
		live.Resume = []clispec.LiveMessage{{Method: "thread/resume", Params: `{"thread":{session:json}}`}}
		spec.Sessions = clispec.SessionRules{ID: `thread-\d+`, Cumulative: []string{"input_tokens"}}
		delete(spec.Events[len(spec.Events)-1].Set, "session")
		live.Turn = []clispec.LiveMessage{{Method: "turn/start", Params: `{"thread":{context:json},"text":{prompt:json}}`}}
	case "acp":
		live.Envelope, live.Context, live.Of = clispec.EnvelopeJSONRPC, "sessionId", "params.thread"
		live.Open = []clispec.LiveMessage{{Method: "session/new", Params: `{"cwd":{dir:json}}`}}
		live.Turn = []clispec.LiveMessage{{Method: "session/prompt", Ends: true, Params: `{"thread":{context:json},"text":{prompt:json}}`}}
		ended := clispec.EventRule{Match: map[string]string{"method": "session/prompt", "result.stopReason": "end_turn"}, Kind: clichain.EventResult, Terminal: true, Set: map[string]string{"input_tokens": "=3"}}
		failed := clispec.EventRule{Match: map[string]string{"method": "session/prompt", "result.stopReason": "cancelled"}, Kind: clichain.EventError, Terminal: true, Set: map[string]string{"message": "result.message"}}
		refused := clispec.EventRule{Match: map[string]string{"method": "session/prompt", "error.message": ".+"}, Kind: clichain.EventError, Terminal: true, Set: map[string]string{"message": "error.message"}}
		live.Events = append(spec.Events[:2:2], ended, failed, refused)
	}
	return spec
}

// agentOf returns a backend whose CLI is the fake agent of a dialect.
func agentOf(t *testing.T, dialect, manners string, cfg clichain.Config) *clichain.Provider {
	t.Helper()
	return agentWith(t, agentSpec(dialect), dialect, manners, cfg)
}

// agentWith is agentOf with a changed spec.
func agentWith(t *testing.T, spec clichain.CliSpec, dialect, manners string, cfg clichain.Config) *clichain.Provider {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cfg.Binary = filepath.Join(t.TempDir(), "agent-"+dialect)
	require.NoError(t, os.Symlink(exe, cfg.Binary))
	cfg.Env = append(cfg.Env, "AGENT_MANNERS="+manners)
	require.NoError(t, spec.Validate())
	return clichain.NewProvider(spec, &cfg)
}
