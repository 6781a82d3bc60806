package conformance_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// optionCase tests one option with one CLI. The model answers with first, set sets the option, and see checks its
// effect.
type optionCase struct {
	cli    string
	access clichain.Access
	first  loopback.Reply
	set    func(c cli, o *clichain.Options)
	see    func(t *testing.T, c cli)
}

// Each supported option has its effect, in the request to the model or in the access of tools.
func TestOptions(t *testing.T) {
	for _, cases := range []map[string]optionCase{wireCases(), toolCases(), directoryCases(), copilotCases(), kimiCases()} {
		for label, test := range cases {
			t.Run(label, func(t *testing.T) {
				longUnless(t, isFirst(test.cli))
				t.Parallel()
				c := start(t, test.cli, home.LoggedIn, flagsOnly, loopback.InOrder(test.first, loopback.Text(hello)))
				for _, dir := range []string{"more", "work"} {
					c.home.Write(t, dir+"/notes.txt", "The sky is indigo.\n")
				}
				req := c.question("say hi")
				if req.Access = test.access; req.Access != clichain.AccessNone {
					req.Dir = c.home.Work
				}
				test.set(c, &req.Options)
				resp, err := c.Complete(t.Context(), req)
				require.NoError(t, err)
				require.Equal(t, hello, resp.Text)
				test.see(t, c)
			})
		}
	}
}

// wireCases are options that appear in the request to the model.
func wireCases() map[string]optionCase {
	answer := loopback.Text(hello)
	effort := func(_ cli, o *clichain.Options) { o.Effort = "high" }
	return map[string]optionCase{
		"claude effort": {home.Claude, clichain.AccessNone, answer, effort, sent(`"output_config":{"effort":"high"`)},
		"codex effort":  {home.Codex, clichain.AccessNone, answer, effort, sent(`"reasoning":{"effort":"high"`)},
		"claude agents": {home.Claude, clichain.AccessWrite, answer, func(_ cli, o *clichain.Options) {
			o.Agents = json.RawMessage(`{"zyzzyva": {"description": "counts beetles", "prompt": "Count."}}`)
		}, sent("counts beetles")},
		"claude extra": {home.Claude, clichain.AccessNone, answer, func(_ cli, o *clichain.Options) {
			o.Extra = map[string][]string{home.Claude: {"--append-system-prompt", "Count beetles."}, home.Codex: {"--no-such-flag"}}
		}, sent("Count beetles.")},
	}
}

// toolCases are options that limit or allow tools.
func toolCases() map[string]optionCase {
	write := func(name string) loopback.Reply { return shell(name, `sh -c "touch made"`) }
	allow := func(tools ...string) func(cli, *clichain.Options) {
		return func(_ cli, o *clichain.Options) { o.AllowedTools = tools }
	}
	deny := func(tools ...string) func(cli, *clichain.Options) {
		return func(_ cli, o *clichain.Options) { o.DisallowedTools = tools }
	}
	reads := map[string]loopback.Reply{
		"claude": loopback.Tool("Read", map[string]any{"file_path": "notes.txt"}),
		"gemini": loopback.Tool("read_file", map[string]any{"file_path": "notes.txt"}),
	}
	return map[string]optionCase{
		"claude without its shell":     {home.Claude, clichain.AccessWrite, write(home.Claude), allow("Read"), made(false, "work/made")},
		"claude with its shell":        {home.Claude, clichain.AccessWrite, write(home.Claude), allow("Read", "Bash"), made(true, "work/made")},
		"claude denied its shell":      {home.Claude, clichain.AccessFull, write(home.Claude), deny("Bash"), both(offered("Read", "Bash"), made(false, "work/made"))},
		"gemini without its shell":     {home.Gemini, clichain.AccessWrite, write(home.Gemini), allow("read_file"), made(false, "work/made")},
		"gemini with its shell":        {home.Gemini, clichain.AccessWrite, write(home.Gemini), allow("run_shell_command"), made(true, "work/made")},
		"gemini is offered no glob":    {home.Gemini, clichain.AccessRead, loopback.Text(hello), deny("glob"), offered("read_file", "glob")},
		"claude may only read files":   {home.Claude, clichain.AccessRead, reads["claude"], allow("Read"), both(offered("Read", "Grep"), returned("indigo"))},
		"claude may only search":       {home.Claude, clichain.AccessRead, reads["claude"], allow("Grep", "Glob"), both(offered("Grep", "Read"), notReturned("indigo"))},
		"gemini may only read files":   {home.Gemini, clichain.AccessRead, reads["gemini"], allow("read_file"), both(offered("read_file", "glob"), returned("indigo"))},
		"gemini may only search":       {home.Gemini, clichain.AccessRead, reads["gemini"], allow("glob"), both(offered("glob", "read_file"), notReturned("indigo"))},
		"claude writes":                {home.Claude, clichain.AccessWrite, writeTool[home.Claude], allow(), made(true, "work/out.txt")},
		"claude plans without writing": {home.Claude, clichain.AccessWrite, writeTool[home.Claude], plan, both(sent("lan mode"), made(false, "work/out.txt"))},
	}
}

func plan(_ cli, o *clichain.Options) { o.PermissionMode = "plan" }

// directoryCases are options with paths.
func directoryCases() map[string]optionCase {
	more := func(c cli, o *clichain.Options) { o.AddDirs = []string{filepath.Join(c.home.Dir, "more")} }
	none := func(cli, *clichain.Options) {}
	out := loopback.Tool("Write", map[string]any{"file_path": "../more/out.txt", "content": "hello\n"})
	read := loopback.Tool("read_file", map[string]any{"file_path": "../more/notes.txt"})
	return map[string]optionCase{
		"claude in one directory":   {home.Claude, clichain.AccessWrite, out, none, made(false, "more/out.txt")},
		"claude in two directories": {home.Claude, clichain.AccessWrite, out, more, made(true, "more/out.txt")},
		"codex in two directories":  {home.Codex, clichain.AccessWrite, loopback.Text(hello), more, sent("/more")},
		"gemini in one directory":   {home.Gemini, clichain.AccessRead, read, none, notReturned("indigo")},
		"gemini in two directories": {home.Gemini, clichain.AccessRead, read, more, returned("indigo")},
	}
}

// The request to the model contains the image.
func TestImages(t *testing.T) {
	const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	png, err := base64.StdEncoding.DecodeString(pixel)
	require.NoError(t, err)
	for _, name := range []string{home.Codex, home.OpenCode, home.Copilot} {
		t.Run(name, func(t *testing.T) {
			longUnless(t, name != home.OpenCode)
			t.Parallel()
			c := start(t, name, home.LoggedIn, longTimeout, nil)
			req := c.question("what is it?")
			req.Options.Images = []string{c.home.Write(t, "more/pixel.png", string(png))}
			_, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			sent("data:image/png;base64,"+pixel[:20])(t, c)
		})
	}
}

// A limit of turns or cost ends a run that would continue.
func TestTurnAndCostLimits(t *testing.T) {
	for label, test := range map[string]struct {
		options clichain.Options
		calls   int
	}{
		"turns": {clichain.Options{MaxTurns: 2}, 2},
		"money": {clichain.Options{MaxBudgetUSD: 0.0000001}, 1},
	} {
		t.Run(label, func(t *testing.T) {
			c := start(t, home.Claude, home.LoggedIn, longTimeout, loopback.Always(shell(home.Claude, "echo ran")))
			req := c.agent()
			req.Options = test.options
			_, err := c.Complete(t.Context(), req)
			require.ErrorIs(t, err, clichain.ErrBadOutput)
			require.Len(t, c.server.Calls(), test.calls)
		})
	}
}

// The CLI itself calls the fallback model.
func TestFallbackModel(t *testing.T) {
	unknown := unknownModels[home.Claude]
	c := start(t, home.Claude, home.LoggedIn, longTimeout, func(q loopback.Request) loopback.Reply {
		if q.Model() == unknown {
			return problem(home.Claude, http.StatusNotFound)
		}
		return loopback.Text(hello)
	})
	req := c.question("say hi")
	req.Model, req.Options.FallbackModel = unknown, "haiku"
	resp, err := c.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, hello, resp.Text)
	calls := c.server.Calls()
	require.Len(t, calls, 2)
	require.Contains(t, calls[1].Model(), "haiku")
}

// A system text replaces the CLI's own text or is appended to it. Without an option to append it, the text is part of
// the prompt.
func TestSystemMode(t *testing.T) {
	long(t)
	const text = "Count beetles."
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		sent := map[call.SystemMode]loopback.Request{}
		for _, mode := range []call.SystemMode{call.SystemReplace, call.SystemAppend} {
			c := start(t, name, home.LoggedIn, longTimeout, nil)
			req := c.question("say hi")
			req.Access, req.Dir, req.Options.SystemMode = clichain.AccessWrite, c.home.Work, mode
			req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleSystem, Content: text})
			_, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.Len(t, c.server.Calls(), 1)
			sent[mode] = c.server.Calls()[0]
		}
		replaced, added := sent[call.SystemReplace], sent[call.SystemAppend]
		t.Logf("%d bytes of system text, %d with the CLI's own", len(replaced.System()), len(added.System()))
		require.Contains(t, replaced.System(), text)
		require.Contains(t, added.System()+added.Prompt(), text)
		require.Greater(t, len(added.System()), len(replaced.System())+1000)
	})
}

// sent asserts that the first request to the model contains a text.
func sent(text string) func(*testing.T, cli) {
	return func(t *testing.T, c cli) {
		require.NotEmpty(t, c.server.Calls())
		require.Contains(t, string(c.server.Calls()[0].Body), text)
	}
}

// offered asserts that the first request offers one tool and not another.
func offered(tool, missing string) func(*testing.T, cli) {
	return func(t *testing.T, c cli) {
		require.Contains(t, c.server.Calls()[0].Tools(), tool)
		require.NotContains(t, c.server.Calls()[0].Tools(), missing)
	}
}

func both(a, b func(*testing.T, cli)) func(*testing.T, cli) {
	return func(t *testing.T, c cli) { a(t, c); b(t, c) }
}

// returned asserts that a tool result contains a text.
func returned(text string) func(*testing.T, cli) {
	return func(t *testing.T, c cli) { require.Contains(t, results(c), text) }
}

// notReturned asserts that the model used the tool and that no result contains the text.
func notReturned(text string) func(*testing.T, cli) {
	return func(t *testing.T, c cli) {
		require.Len(t, c.server.Calls(), 2, "the model did not use the tool")
		require.NotContains(t, results(c), text)
	}
}

// made asserts that a file in the home exists, or does not.
func made(want bool, path string) func(*testing.T, cli) {
	return func(t *testing.T, c cli) {
		require.Len(t, c.server.Calls(), 2, "the model did not use the tool")
		if path = filepath.Join(c.home.Dir, path); want {
			require.FileExists(t, path, results(c))
		} else {
			require.NoFileExists(t, path, results(c))
		}
	}
}

// results returns the results of all tool calls.
func results(c cli) (all string) {
	for _, q := range c.server.Calls() {
		all += strings.Join(q.Results(), "\n")
	}
	return all
}
