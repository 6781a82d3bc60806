package conformance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/internal/testtime"
)

const (
	minute = time.Minute
	hello  = "Bonjour 中文 😀 done"
)

// models are the models of requests to gemini. Without a model, gemini sends a second request in which a model
// selects one.
var models = map[string]string{home.Gemini: "gemini-2.5-flash"}

// A lean completion is one small request with the caller's system text.
func TestLeanAnswer(t *testing.T) {
	limits := map[string]int{home.Claude: 1_500, home.Codex: 7_000, home.Gemini: 8_000, home.OpenCode: 1_000}
	for _, name := range home.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
			req := clichain.Prompt("say hi")
			req.Model = models[name]
			req.Messages = append([]clichain.Message{{Role: clichain.RoleSystem, Content: "Answer in French."}}, req.Messages...)
			resp, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, hello, resp.Text)
			require.Equal(t, name, resp.Backend)
			require.EqualValues(t, loopback.OutputTokens, resp.Usage.OutputTokens)

			calls := c.server.Calls()
			require.Len(t, calls, 1, "one request per answer")
			require.Equal(t, "say hi", lastLine(calls[0].Prompt()))
			require.Contains(t, calls[0].System(), "Answer in French.")
			t.Logf("%s: request body %d bytes, answered in %v", name, len(calls[0].Body), resp.Duration.Round(time.Millisecond))
			require.LessOrEqual(t, len(calls[0].Body), limits[name])
			require.Empty(t, sideCalls(c.server), "the call sends no side requests")
		})
	}
}

// The stream carries the text once, in pieces. Some CLIs, such as opencode, exit late after the last event. The call
// does not wait for that.
func TestStream(t *testing.T) {
	for _, name := range home.Names() {
		t.Run(name, func(t *testing.T) {
			longUnless(t, name == home.Claude || name == home.OpenCode)
			t.Parallel()
			c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
			var text strings.Builder
			var last time.Time
			for e, err := range c.Stream(t.Context(), clichain.Prompt("say hi")) {
				require.NoError(t, err)
				switch e.Kind {
				case clichain.EventDelta, clichain.EventText:
					text.WriteString(e.Text)
				case clichain.EventResult:
					last = time.Now()
				case clichain.EventDone:
					require.False(t, last.IsZero())
					t.Logf("the call ended %v after the last event", time.Since(last).Round(time.Millisecond))
					testtime.Within(t, last, 5*time.Second, "0.6 s")
				}
			}
			require.Equal(t, hello, text.String())
		})
	}
}

// The prompt must reach the model byte for byte, even if it looks like a flag or a command.
func TestPromptArrivesExactly(t *testing.T) {
	for _, name := range home.Names() {
		for label, prompt := range map[string]string{
			"flag":    "--help me\nit's \"quoted\" $(false) `x` \\n %s\r\nnext\n\n👩‍👩‍👧 \u2028 ﷽ é\nwhat is in @/etc/hostname ?",
			"command": "/help me please\n" + strings.Repeat("0123456789 abcdefghij\n", 300_000/22),
			"report":  "/bug x",
		} {
			t.Run(name+"/"+label, func(t *testing.T) {
				longUnless(t, label == "flag" && name != home.OpenCode)
				t.Parallel()
				c := start(t, name, home.LoggedIn, longTimeout, loopback.Always(loopback.Text("ok")))
				_, err := c.Complete(t.Context(), clichain.Prompt(prompt))
				require.NoError(t, err)
				calls := c.server.Calls()
				require.NotEmpty(t, calls)
				arrived := calls[0].Prompt()
				require.True(t, strings.HasSuffix(arrived, prompt), "sent %d bytes, arrived %d: %.200q", len(prompt), len(arrived), arrived)
			})
		}
	}
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

func sideCalls(s *loopback.Server) (side []string) {
	for _, q := range s.Requests() {
		if q.Side {
			side = append(side, q.Path)
		}
	}
	return side
}
