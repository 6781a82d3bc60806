package conformance_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

// eachQwen runs a test with each version of the CLI.
func eachQwen(t *testing.T, test func(t *testing.T, of home.Install)) {
	for _, of := range home.Installs() {
		if of.CLI == home.Qwen {
			of.Binary(t) // skips the test if the version is missing
			t.Run(of.Version(t), func(t *testing.T) { test(t, of) })
		}
	}
}

func qwen(t *testing.T, of home.Install, state home.State, cfg clichain.Config, script loopback.Script) cli {
	t.Helper()
	return startOf(t, of, specs.Qwen(), state, cfg, script)
}

// A plain completion in a chain is one small request without tools. The key is in environment variables or in the
// settings.
func TestQwenAnswers(t *testing.T) {
	long(t)
	eachQwen(t, func(t *testing.T, of home.Install) {
		t.Parallel()
		for label, state := range map[string]home.State{"variables": home.LoggedIn, "settings": home.LoggedOut} {
			c := qwen(t, of, state, longTimeout, loopback.Always(loopback.Join(loopback.Thinking("hm"), loopback.Text(hello))))
			if state == home.LoggedOut {
				c.home.Write(t, ".qwen/settings.json", fmt.Sprintf(`{
					"security": {"auth": {"selectedType": "openai", "apiKey": %q, "baseUrl": %q}}, "model": {"name": "m1"}
				}`, home.Key, c.server.URL+"/v1"))
			}
			c.home.Write(t, ".qwen/QWEN.md", "Be cheerful.")
			req := clichain.Prompt("/help me with @/etc/hostname")
			req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleSystem, Content: "Answer in French."})
			resp, err := clichain.ChainOf([]clichain.Backend{c}, nil).Complete(t.Context(), req)
			require.NoError(t, err, label)
			require.Equal(t, hello, resp.Text)
			require.Equal(t, "qwen", resp.Backend)
			require.EqualValues(t, loopback.OutputTokens, resp.Usage.OutputTokens)
			calls := c.server.Calls()
			require.Len(t, calls, 1)
			require.Empty(t, sideCalls(c.server))
			require.True(t, strings.HasPrefix(calls[0].System(), "Answer in French."), calls[0].System())
			require.Contains(t, calls[0].Prompt(), "/help me with @/etc/hostname")
			require.NotContains(t, string(calls[0].Body), "Be cheerful.")
			require.Empty(t, calls[0].Tools())
			t.Logf("%s: %d bytes", label, len(calls[0].Body))
			require.Less(t, len(calls[0].Body), 2_500)
		}
	})
}

// qwen prints errors as answers. The calls must fail, and the chain calls another CLI.
func TestQwenFails(t *testing.T) {
	long(t)
	eachQwen(t, func(t *testing.T, of home.Install) {
		t.Parallel()
		for label, test := range map[string]struct {
			reply   loopback.Reply
			state   home.State
			timeout time.Duration
			reason  clichain.Reason
		}{
			"key refused":  {problem(home.Qwen, http.StatusUnauthorized), home.LoggedIn, minute, clichain.ReasonUnauthenticated},
			"no answer":    {loopback.Reply{}, home.LoggedIn, minute, clichain.ReasonEmpty},
			"logged out":   {loopback.Text("never"), home.LoggedOut, minute, clichain.ReasonUnauthenticated},
			"rate limited": {problem(home.Qwen, http.StatusTooManyRequests), home.LoggedIn, 4 * time.Second, clichain.ReasonTimeout}, // qwen retries without any output
		} {
			t.Run(label, func(t *testing.T) {
				t.Parallel()
				// With the default patience, the chain would stop version 0.24 when it retries after an empty answer,
				// because it does not report the reason.
				cfg := clichain.Config{Timeout: test.timeout, RetryPatience: -1}
				c := qwen(t, of, test.state, cfg, loopback.Always(test.reply))
				next := start(t, home.Claude, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
				resp, err := clichain.ChainOf([]clichain.Backend{c, next}, nil).Complete(t.Context(), clichain.Prompt("say hi"))
				require.NoError(t, err)
				require.Equal(t, hello, resp.Text)
				require.Equal(t, home.Claude, resp.Backend)
				require.Len(t, resp.Attempts, 1)
				require.Equal(t, test.reason, resp.Attempts[0].Reason, resp.Attempts[0].Err)
			})
		}
	})
}

// An error after the first turn is still an error of the service.
func TestQwenFailsLater(t *testing.T) {
	long(t)
	eachQwen(t, func(t *testing.T, of home.Install) {
		t.Parallel()
		look := loopback.Tool("list_directory", map[string]any{"path": "/"})
		c := qwen(t, of, home.LoggedIn, longTimeout, loopback.InOrder(look, problem(home.Qwen, http.StatusUnauthorized)))
		_, err := c.Complete(t.Context(), c.askIn(clichain.AccessRead, "what is there?"))
		require.ErrorIs(t, err, clichain.ErrUnauthenticated)
		require.Len(t, c.server.Calls(), 2)
	})
}

// A model's answer may quote an error of a service.
func TestQwenAnswerQuotesError(t *testing.T) {
	long(t)
	eachQwen(t, func(t *testing.T, of home.Install) {
		t.Parallel()
		const text = "[API Error: 401 is what it said]"
		c := qwen(t, of, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(text)))
		resp, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
		require.NoError(t, err)
		require.Equal(t, text, resp.Text)
	})
}

// A call continues the session of the first call, in its directory.
func TestQwenContinuesSession(t *testing.T) {
	long(t)
	eachQwen(t, func(t *testing.T, of home.Install) {
		t.Parallel()
		c := qwen(t, of, home.LoggedIn, longTimeout, loopback.InOrder(loopback.Text(answered), loopback.Text(hello)))
		first, err := c.Complete(t.Context(), clichain.Prompt(asked))
		require.NoError(t, err)
		next := clichain.Prompt("and now?")
		next.Session = first.Session
		second, err := c.Complete(t.Context(), next)
		require.NoError(t, err)
		require.Equal(t, first.Session, second.Session)
		require.Contains(t, string(c.server.Calls()[1].Body), asked)
		require.Contains(t, string(c.server.Calls()[1].Body), answered)
	})
}

// Each access level allows the tools that it names.
func TestQwenAccess(t *testing.T) {
	long(t)
	eachQwen(t, func(t *testing.T, of home.Install) {
		t.Parallel()
		for access, want := range map[clichain.Access]struct{ writes, runs bool }{
			clichain.AccessRead: {false, false}, clichain.AccessWrite: {true, false}, clichain.AccessFull: {true, true},
		} {
			t.Run(access.String(), func(t *testing.T) {
				t.Parallel()
				var work string // qwen accepts only absolute paths
				c := qwen(t, of, home.LoggedIn, flagsOnly, func(q loopback.Request) loopback.Reply {
					return []loopback.Reply{
						loopback.Tool("read_file", map[string]any{"file_path": work + "/notes.txt"}),
						loopback.Tool("write_file", map[string]any{"file_path": work + "/wrote", "content": "hello\n"}),
						loopback.Tool("edit", map[string]any{"file_path": work + "/notes.txt", "old_string": "indigo", "new_string": "orange"}),
						shell(home.Qwen, "touch "+work+"/ran"), loopback.Text(hello),
					}[q.N-1]
				})
				work = c.home.Work
				note := c.home.Write(t, "work/notes.txt", "The sky is indigo.\n")
				resp, err := c.Complete(t.Context(), c.askIn(access, "go on"))
				require.NoError(t, err)
				require.Equal(t, hello, resp.Text)
				require.Contains(t, results(c), "indigo")
				require.Equal(t, want.writes, fileExists(work+"/wrote"), results(c))
				text, err := os.ReadFile(note)
				require.NoError(t, err)
				require.Equal(t, want.writes, strings.Contains(string(text), "orange"), results(c))
				require.Equal(t, want.runs, fileExists(work+"/ran"), results(c))
			})
		}
	})
}

// With AccessRead qwen has the read-only tools, or those of them that the request names.
func TestQwenReadTools(t *testing.T) {
	long(t)
	eachQwen(t, func(t *testing.T, of home.Install) {
		t.Parallel()
		c := qwen(t, of, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
		for _, want := range [][]string{{"read_file"}, specs.Qwen().ReadTools} {
			req := c.askIn(clichain.AccessRead, "go on")
			if len(want) == 1 {
				req.Options.AllowedTools = want
			}
			_, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			calls := c.server.Calls()
			got := calls[len(calls)-1].Tools()
			require.Subset(t, want, got)
			require.Contains(t, got, "read_file")
			require.NotContains(t, got, "agent")
		}
	})
}

// qwen uses the live mode for CLIs that speak its protocol.
func TestQwenLive(t *testing.T) {
	long(t)
	eachQwen(t, func(t *testing.T, of home.Install) {
		t.Parallel()
		c := qwen(t, of, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(answered)))
		p, b := warm(t, c, nil)
		for _, text := range []string{asked, "/help me", "and now?"} {
			resp, err := b.Complete(t.Context(), clichain.Prompt(text))
			require.NoError(t, err)
			require.Equal(t, answered, resp.Text)
			require.Eventually(t, func() bool { return p.Stats().Busy == 0 }, time.Minute, 10*time.Millisecond)
		}
		require.Equal(t, live.Stats{Processes: 1, Started: 1, Warm: 3}, p.Stats())
		calls := c.server.Calls()
		require.Contains(t, calls[1].Prompt(), "/help me")
		for _, q := range calls[1:] {
			require.NotContains(t, string(q.Body), "zyzzyva")
		}
	})
}
