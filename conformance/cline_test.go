package conformance_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// A plain completion is one small request without tools. The prompt starts with the caller's system text, because
// cline accepts a system text only as an argument. cline normally stores sessions in the home. No part of the call
// may stay there, and no process may survive.
func TestClineAnswers(t *testing.T) {
	long(t)
	c := start(t, home.Cline, home.LoggedIn, longTimeout, loopback.Always(loopback.Join(loopback.Thinking("hm"), loopback.Text(hello))))
	const prompt = "/team: write to <a@b.c>, @everyone, @scope/name, @.hidden and @ /etc/hostname"
	req := clichain.Prompt(prompt)
	req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleSystem, Content: "Answer in French."})
	resp, err := c.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, hello, resp.Text)
	require.EqualValues(t, loopback.OutputTokens, resp.Usage.OutputTokens)
	calls := c.server.Calls()
	require.Len(t, calls, 1)
	require.Empty(t, sideCalls(c.server))
	require.Empty(t, calls[0].Tools())
	require.Equal(t, "You are a helpful assistant.", calls[0].System())
	require.Contains(t, calls[0].Prompt(), "Answer in French.")
	require.Contains(t, calls[0].Prompt(), prompt)
	t.Logf("request body %d bytes", len(calls[0].Body))
	require.Less(t, len(calls[0].Body), 600)
	require.Empty(t, living(t, c.home))
	for path, content := range everyFile(t, c.home.Dir) {
		require.False(t, strings.Contains(content, "@scope/name"), "the prompt is kept in %s", path)
	}
}

func TestClinePrompts(t *testing.T) {
	long(t)
	for label, prompt := range map[string]string{
		"team": "/team win", "flag": "--help me", "command": "config", "long": strings.Repeat("0123456789 abcdefghij\n", 50_000) + "end",
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			c := start(t, home.Cline, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
			_, err := c.Complete(t.Context(), clichain.Prompt(prompt))
			require.NoError(t, err)
			require.Len(t, c.server.Calls(), 1)
			require.Contains(t, c.server.Calls()[0].Prompt(), prompt)
		})
	}
}

// cline sends the content of a file that the prompt names in this form, even without access. The library rejects such
// a prompt. With the check removed cline sends the file, which proves that it expands each form.
func TestClineAttachesNoFiles(t *testing.T) {
	long(t)
	for label, form := range map[string]string{
		"absolute": "see @DIR/secret.txt", "quoted": `see @"DIR/secret.txt", please`, "home": "mail a@~/secret.txt", "dot": "(@./../../../../../../../..DIR/secret.txt",
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			c := start(t, home.Cline, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
			c.home.Write(t, "secret.txt", "planted-secret\n")
			prompt := clichain.Prompt(strings.ReplaceAll(form, "DIR", c.home.Dir))
			_, err := c.Complete(t.Context(), prompt)
			require.Equal(t, clichain.ReasonUnsupported, call.AsError(home.Cline, err).Reason, "%v", err)
			require.ErrorContains(t, err, "put a space after the @")
			require.Empty(t, c.server.Requests(), "the CLI was started")

			spec := specOf(t, home.Cline)
			spec.Preflight = nil
			unchecked := clichain.NewProvider(spec, &clichain.Config{Binary: c.home.Binary, Env: c.home.Env, Timeout: minute})
			_, err = unchecked.Complete(t.Context(), prompt)
			require.NoError(t, err)
			require.Contains(t, string(c.server.Calls()[0].Body), "planted-secret", "cline does not expand this any more")
		})
	}
}

// cline would store the model of a call as the user's default.
func TestClineKeepsDefaultModel(t *testing.T) {
	long(t)
	c := start(t, home.Cline, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
	settings := filepath.Join(c.home.Dir, ".cline/data/settings/providers.json")
	req := clichain.Prompt("say hi")
	req.Model = "openai/gpt-5"
	_, err := c.Complete(t.Context(), req)
	require.Equal(t, clichain.ReasonUnsupported, call.AsError(home.Cline, err).Reason, "%v", err)
	require.Empty(t, c.server.Requests(), "the CLI was started")

	text, err := os.ReadFile(settings)
	require.NoError(t, err)
	own := c.home.Write(t, "own.json", string(text))
	t.Setenv("CLINE_PROVIDER_SETTINGS_PATH", own)
	_, err = c.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, req.Model, c.server.Calls()[0].Model())
	after, err := os.ReadFile(settings)
	require.NoError(t, err)
	require.Equal(t, string(text), string(after))
}

// Web search by a vendor is not a tool for cline, and it is billed.
func TestClineDisablesWebSearch(t *testing.T) {
	long(t)
	c := start(t, home.Cline, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(hello)))
	c.home.Write(t, ".cline/data/settings/providers.json", `{"version":1,"lastUsedProvider":"anthropic","providers":{"anthropic":`+
		`{"settings":{"provider":"anthropic","apiKey":"loopback","model":"claude-sonnet-5","baseUrl":"`+c.server.URL+`/v1"},"updatedAt":`+
		`"2026-01-01T00:00:00.000Z","tokenSource":"manual"}}}`)
	_, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
	require.NoError(t, err)
	require.Len(t, c.server.Calls(), 1)
	require.Empty(t, c.server.Calls()[0].Tools())
	require.NotContains(t, string(c.server.Calls()[0].Body), "web_search")
}

func TestClineFails(t *testing.T) {
	long(t)
	for label, test := range map[string]struct {
		reply  loopback.Reply
		state  home.State
		reason clichain.Reason
	}{
		"key refused": {problem(home.Cline, http.StatusUnauthorized), home.LoggedIn, clichain.ReasonUnauthenticated},
		"bad request": {problem(home.Cline, http.StatusBadRequest), home.LoggedIn, clichain.ReasonBadRequest},
		"no model":    {problem(home.Cline, http.StatusNotFound), home.LoggedIn, clichain.ReasonBadModel},
		"no credit":   {loopback.Error(http.StatusPaymentRequired, "insufficient_credits", "Insufficient credits. Add more to continue."), home.LoggedIn, clichain.ReasonBilling},
		"logged out":  {loopback.Text("never"), home.LoggedOut, clichain.ReasonUnauthenticated},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			c := start(t, home.Cline, test.state, longTimeout, loopback.Always(test.reply))
			_, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
			require.Equal(t, test.reason, call.AsError(home.Cline, err).Reason, "%v", err)
		})
	}
}

// Without access no tool runs, including a tool that the settings do not name. With AccessFull the shell runs.
func TestClineAccess(t *testing.T) {
	long(t)
	spec := specOf(t, home.Cline)
	for i := range spec.Files { // simulates tools that are newer than the spec
		spec.Files[i].Content = strings.ReplaceAll(spec.Files[i].Content, "disabledTools", "unknown")
	}
	for access, ran := range map[clichain.Access]bool{clichain.AccessNone: false, clichain.AccessFull: true} {
		t.Run(access.String(), func(t *testing.T) {
			t.Parallel()
			var work string
			c := startOf(t, home.Newest(t, home.Cline), spec, home.LoggedIn, flagsOnly, func(q loopback.Request) loopback.Reply {
				return []loopback.Reply{shell(home.Cline, "touch "+work+"/ran"), loopback.Text(hello)}[min(q.N, 2)-1]
			})
			work = c.home.Work
			req := clichain.Prompt("go on")
			if access == clichain.AccessFull {
				req = c.askIn(access, "go on")
			}
			_, _ = c.Complete(t.Context(), req)
			require.NotEmpty(t, c.server.Calls())
			require.Equal(t, ran, fileExists(work+"/ran"), results(c))
			require.Empty(t, living(t, c.home))
		})
	}
}
