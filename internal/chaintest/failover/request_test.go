package failover_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/specs"
)

// refused is a request with a mistake that no backend could handle.
type refused struct {
	name    string
	change  func(*clichain.Request)
	reason  clichain.Reason
	option  string
	message string
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	text := func(s string) func(*clichain.Request) {
		return func(r *clichain.Request) { r.Messages[0].Content = s }
	}
	badRequest, badOption := clichain.ReasonBadRequest, clichain.ReasonBadOption
	for _, test := range []refused{
		{"no messages", func(r *clichain.Request) { r.Messages = nil }, badOption, "messages", "no message has text"},
		{"only system", func(r *clichain.Request) { r.Messages[0].Role = clichain.RoleSystem }, badOption, "messages", "no message has text"},
		{"empty text", text(""), badOption, "messages", "no message has text"},
		{"blank text", text(" \n\t"), badOption, "messages", "no message has text"},
		{"no role", func(r *clichain.Request) { r.Messages[0].Role = "" }, badRequest, "messages[0].role", "not one of system, user, assistant"},
		{"unknown role", func(r *clichain.Request) { r.Messages = append(r.Messages, clichain.Message{Role: "tool"}) }, badRequest, "messages[1].role", `"tool"`},

		{"NUL", text("ab\x00c"), badRequest, "messages[0].content", "NUL byte at offset 2"},
		{"NUL in a system message", func(r *clichain.Request) { r.Messages = append(r.Messages, chaintest.System("\x00")) }, badRequest, "messages[1].content", "offset 0"},
		{"invalid UTF-8", text("aé\xffb"), badRequest, "messages[0].content", "invalid UTF-8 (byte 0xff) at offset 3"},
		{"a rune cut short", text("中\xe4\xb8"), badRequest, "messages[0].content", "invalid UTF-8 (byte 0xe4) at offset 3"},
		{"a surrogate", text("\xed\xa0\x80"), badRequest, "messages[0].content", "offset 0"},
		{"model with NUL", func(r *clichain.Request) { r.Model = "m\x00" }, badRequest, "model", "offset 1"},
		{"dir with NUL", func(r *clichain.Request) { r.Dir = "/\x00" }, badRequest, "dir", "offset 1"},
		{"session with bad text", func(r *clichain.Request) { r.Session = "claude:\xff" }, badRequest, "session", "offset 7"},
		{"effort with NUL", func(r *clichain.Request) { r.Options.Effort = "\x00" }, badRequest, "options.effort", "offset 0"},
		{"tool with NUL", func(r *clichain.Request) { r.Options.AllowedTools = []string{"Read", "a\x00"} }, badRequest, "options.allowed_tools[1]", "offset 1"},
		{"a rune over two tools", func(r *clichain.Request) { r.Options.DisallowedTools = []string{"\xc3", "\xa9"} }, badRequest, "options.disallowed_tools[0]", "offset 0"},
		{"schema with bad text", func(r *clichain.Request) { r.Schema = json.RawMessage("\"a\xff\"") }, badRequest, "schema", "offset 2"},

		{"access too low", func(r *clichain.Request) { r.Access = -1 }, badOption, "access", "-1"},
		{"access too high", func(r *clichain.Request) { r.Access = clichain.AccessFull + 1 }, badOption, "access", "4"},
		{"negative turns", func(r *clichain.Request) { r.Options.MaxTurns = -1 }, badOption, "options.max_turns", "negative"},
		{"negative budget", func(r *clichain.Request) { r.Options.MaxBudgetUSD = -0.01 }, badOption, "options.max_budget_usd", "-0.01"},
		{"infinite budget", func(r *clichain.Request) { r.Options.MaxBudgetUSD = math.Inf(1) }, badOption, "options.max_budget_usd", "Inf"},
		{"no number", func(r *clichain.Request) { r.Options.MaxBudgetUSD = math.NaN() }, badOption, "options.max_budget_usd", "NaN"},
		{"empty tool", func(r *clichain.Request) { r.Options.AllowedTools = []string{"Read", ""} }, badOption, "options.allowed_tools[1]", "is empty"},
		{"empty forbidden tool", func(r *clichain.Request) { r.Options.DisallowedTools = []string{""} }, badOption, "options.disallowed_tools[0]", "is empty"},
		{"broken schema", func(r *clichain.Request) { r.Schema = json.RawMessage(`{"type":`) }, badOption, "schema", "not valid JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := clichain.Prompt("Hello")
			test.change(&req)
			err := compose.Check(req)
			require.NotNil(t, err)
			require.Equal(t, test.reason, err.Reason)
			require.Equal(t, test.option, err.Option)
			require.Contains(t, err.Message, test.message)
			require.Equal(t, -1, err.ExitCode)

			_, got := clichain.NewChain(specs.All(), nil).Complete(t.Context(), req)
			chain, ok := got.(*clichain.ChainError)
			require.True(t, ok)
			require.Equal(t, test.reason, chain.Reason())
			require.Empty(t, chain.Attempts, "nothing is tried")
		})
	}
}

func TestRequestsAtTheirBounds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*clichain.Request){
		"full access":           func(r *clichain.Request) { r.Access = clichain.AccessFull },
		"many turns":            func(r *clichain.Request) { r.Options.MaxTurns = math.MaxInt },
		"a large budget":        func(r *clichain.Request) { r.Options.MaxBudgetUSD = math.MaxFloat64 },
		"a small budget":        func(r *clichain.Request) { r.Options.MaxBudgetUSD = math.SmallestNonzeroFloat64 },
		"replacement character": func(r *clichain.Request) { r.Messages[0].Content = "\ufffd" },
		"control characters":    func(r *clichain.Request) { r.Messages[0].Content = "\x01\x1b[0m\r\n" },
		"schema that is true":   func(r *clichain.Request) { r.Schema = json.RawMessage(`true`) },
		"an assistant's turn":   func(r *clichain.Request) { r.Messages[0].Role = clichain.RoleAssistant },
	} {
		t.Run(name, func(t *testing.T) {
			req := clichain.Prompt("Hello")
			change(&req)
			require.Nil(t, compose.Check(req))
		})
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, session string
		reason        clichain.Reason
		argument      string
	}{
		{"none", "", "", ""},
		{"own", chaintest.HandleOf("claude", chaintest.AnID), "", chaintest.AnID},
		{"own, as the CLI tells it", "claude:" + chaintest.AnID, "", chaintest.AnID},
		{"as the CLI tells it, with a directory", "claude:" + chaintest.AnID + "@/a", clichain.ReasonBadSession, ""},
		{"another's, as that tells it", "codex:0199-abcd", clichain.ReasonUnsupported, ""},
		{"a flag, as a CLI might tell it", "claude:--help", clichain.ReasonBadSession, ""},
		{"own, and a directory", chaintest.HandleOf("claude", chaintest.AnID) + "@/a", clichain.ReasonBadSession, ""},
		{"an id of another shape", chaintest.HandleOf("claude", "a:b"), clichain.ReasonBadSession, ""},
		{"another backend's", chaintest.HandleOf("codex", "0199-abcd"), clichain.ReasonUnsupported, ""},
		{"no backend", "0199-abcd", clichain.ReasonBadSession, ""},
		{"no id", "claude.", clichain.ReasonBadSession, ""},
		{"an id with a NUL", chaintest.HandleOf("claude", chaintest.AnID+"\x00"), clichain.ReasonBadSession, ""},
		{"an id like a flag", chaintest.HandleOf("claude", "--dangerously-skip-permissions"), clichain.ReasonBadSession, ""},
		{"a foreign id like a flag", chaintest.HandleOf("codex", "-x"), clichain.ReasonUnsupported, ""},
		{"only a dot", ".", clichain.ReasonBadSession, ""},
		{"the slug is no owner", chaintest.HandleOf("anthropic-cli", "1"), clichain.ReasonUnsupported, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := clichain.Prompt("P")
			req.Session = test.session
			inv, err := composerOf(t, specs.Claude()).Compose(req, compose.Choice{}, testHost())
			if test.reason != "" {
				require.NotNil(t, err)
				require.Equal(t, test.reason, err.Reason)
				require.Equal(t, "session", err.Option)
				return
			}
			require.Nil(t, err)
			if test.argument == "" {
				require.NotContains(t, inv.Args, "--resume")
				return
			}
			require.Contains(t, inv.Args, test.argument)
		})
	}
}
