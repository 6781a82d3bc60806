package conformance_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/sjson"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/hosttools"
	"github.com/clichain/clichain/specs"
)

type summands struct {
	A int `json:"a"`
	B int `json:"b"`
}

// adder is the function of the caller, and the calls of it.
func adder() (hosttools.Tool, *[]summands) {
	var calls []summands
	return hosttools.Func("add", "ADDMARK", func(_ context.Context, in summands) (string, error) {
		calls = append(calls, in)
		return "SUMMARK", nil
	}), &calls
}

// addCall is the call of the function by the model of each CLI.
func addCall(name string) loopback.Reply {
	args := map[string]any{"a": 2, "b": 3}
	switch name {
	case home.Claude:
		return loopback.Tool("mcp__hosttools__add", args)
	case home.Codex:
		return loopback.ToolOf("mcp__hosttools", "add", args)
	case home.Gemini:
		return loopback.Tool("mcp_hosttools_add", args)
	}
	return loopback.Tool("hosttools_add", args)
}

// besideTools are the tools that a CLI cannot leave out. None of them acts.
var besideTools = map[string][]string{
	home.Codex: {"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource", "request_user_input"},
}

// The model calls a Go function of this process and gets its result.
func TestHostTools(t *testing.T) {
	for name, levels := range map[string][]clichain.Access{
		home.Claude:   {clichain.AccessNone, clichain.AccessWrite},
		home.Codex:    {clichain.AccessNone, clichain.AccessWrite},
		home.Gemini:   {clichain.AccessNone},
		home.OpenCode: {clichain.AccessNone, clichain.AccessWrite},
	} {
		for _, access := range levels {
			t.Run(name+" "+access.String(), func(t *testing.T) {
				t.Parallel()
				c := start(t, name, home.LoggedIn, longTimeout, loopback.InOrder(addCall(name), loopback.Text(hello)))
				req := clichain.Prompt("add 2 and 3")
				if req.Access = access; access > clichain.AccessNone {
					req.Dir = c.home.Work
				}
				if name == home.Codex { // it hides tools from models that it knows behind a search
					req.Model = "gpt-loopback"
				}
				add, calls := adder()
				resp, err := hosttools.With(&c, add).Complete(t.Context(), req)
				require.NoError(t, err)
				require.Equal(t, hello, resp.Text)
				require.Equal(t, []summands{{2, 3}}, *calls)
				asked := c.server.Calls()
				require.Len(t, asked, 2)
				require.Contains(t, string(asked[0].Body), "ADDMARK")
				require.Contains(t, strings.Join(asked[1].Results(), "\n"), "SUMMARK")
				require.Equal(t, c.Status("").Confined[access], resp.Confined)
				if access == clichain.AccessNone {
					require.Subset(t, append(besideTools[name], asked[0].Tools()[len(asked[0].Tools())-1]), asked[0].Tools())
				}
			})
		}
	}
}

// spied sees the server that the provider starts.
type spied struct {
	*cli
	tools *call.HostTools
}

func (o *spied) Unwrap() clichain.Backend { return o.cli }

func (o *spied) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	tools := *call.HostToolsOf(ctx)
	serve := tools.Serve
	tools.Serve = func() (*call.HostServer, error) {
		server, err := serve()
		if err == nil {
			o.tools = server.Tools
		}
		return server, err
	}
	return o.cli.Complete(call.WithHostTools(ctx, &tools), req)
}

// ownServer configures an MCP server of the user that writes its environment into the file and exits.
func ownServer(t *testing.T, c cli, file string) {
	t.Helper()
	command := []string{"/bin/sh", "-c", "env >" + file}
	args, err := json.Marshal(command[1:])
	require.NoError(t, err)
	common := map[string]any{"command": command[0], "args": command[1:]}
	switch c.home.Name {
	case home.Codex:
		change(t, c, ".codex/config.toml", func(text string) string {
			return text + "\n[mcp_servers.usersown]\ncommand = \"/bin/sh\"\nargs = " + string(args) + "\n"
		})
	case home.OpenCode:
		changeJSON(t, c, ".config/opencode/opencode.json", "mcp.usersown", map[string]any{"type": "local", "command": command})
	case home.Kilo:
		changeJSON(t, c, ".config/kilo/kilo.json", "mcp.usersown", map[string]any{"type": "local", "command": command})
	case home.Gemini:
		changeJSON(t, c, ".gemini/settings.json", "mcpServers.usersown", common)
	case home.Claude:
		changeJSON(t, c, ".claude.json", "mcpServers.usersown", common)
	}
}

func change(t *testing.T, c cli, file string, edit func(string) string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.home.Dir, file))
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	c.home.Write(t, file, edit(string(text)))
}

func changeJSON(t *testing.T, c cli, file, path string, value any) {
	t.Helper()
	change(t, c, file, func(text string) string {
		changed, err := sjson.Set(cmp.Or(text, "{}"), path, value)
		require.NoError(t, err)
		return changed
	})
}

// While a function runs, its token is in no argument of any process, and the user's own servers have not started. Only
// codex and its children have the token in their environment.
func TestHostToolsKeepToken(t *testing.T) {
	for _, name := range []string{home.Claude, home.Codex, home.Gemini, home.OpenCode} {
		t.Run(name, func(t *testing.T) {
			longUnless(t, isFirst(name))
			t.Parallel()
			var log bytes.Buffer
			cfg := flagsOnly // a confined server could not write its file
			cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			c := start(t, name, home.LoggedIn, cfg, loopback.InOrder(addCall(name), loopback.Text(hello), loopback.Text(hello)))
			own := filepath.Join(t.TempDir(), "environment")
			ownServer(t, c, own)
			o := &spied{cli: &c}
			var seen []string
			add := hosttools.Func("add", "ADDMARK", func(context.Context, summands) (string, error) {
				seen = processesWith(t, o.tools.Token)
				return "SUMMARK", nil
			})
			req := clichain.Prompt("add 2 and 3")
			if name == home.Codex {
				req.Model = "gpt-loopback"
			}
			resp, err := hosttools.With(o, add).Complete(t.Context(), req)
			require.NoError(t, err)
			require.NotEmpty(t, o.tools.Token)
			require.NoFileExists(t, own)
			require.Equal(t, name == home.Codex, len(seen) > 0, "%v", seen)
			for _, where := range seen {
				require.Contains(t, where, "environ of ")
				require.Contains(t, where, "codex")
			}
			require.NotContains(t, log.String()+fmt.Sprintf("%+v", resp), o.tools.Token)
			req.Access, req.Dir = clichain.AccessWrite, c.home.Work
			_, err = c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.FileExists(t, own, "the user's server is configured in another way")
		})
	}
}

// processesWith lists the processes whose arguments or environment contain the text, except this one.
func processesWith(t *testing.T, text string) (found []string) {
	t.Helper()
	dirs, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, dir := range dirs {
		for _, file := range []string{"cmdline", "environ"} {
			content, _ := os.ReadFile(filepath.Join("/proc", dir.Name(), file))
			if strings.Contains(string(content), text) {
				command, _ := os.ReadFile(filepath.Join("/proc", dir.Name(), "cmdline"))
				found = append(found, file+" of "+strings.ReplaceAll(string(command), "\x00", " "))
			}
		}
	}
	return found
}

// claudeOwn are files of the user that a plain completion must not use.
var claudeOwn = map[string]string{
	".claude/settings.json": `{"hooks": {
		"SessionStart": [{"hooks": [{"type": "command", "command": "touch MARK/hook-start"}]}],
		"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "touch MARK/hook-prompt"}]}],
		"PreToolUse": [{"hooks": [{"type": "command", "command": "touch MARK/hook-tool"}]}],
		"Stop": [{"hooks": [{"type": "command", "command": "touch MARK/hook-stop"}]}]
	}}`,
	".claude/CLAUDE.md":                      "SAYMARK memory\n",
	".claude/rules/x.md":                     "SAYMARK rules\n",
	".claude/skills/x/SKILL.md":              "---\nname: x\ndescription: SAYMARK skill\n---\nx\n",
	".claude/agents/x.md":                    "---\nname: x\ndescription: SAYMARK agent\n---\nx\n",
	".claude/output-styles/x.md":             "---\nname: x\ndescription: x\n---\nSAYMARK style\n",
	"market/x/hooks/hooks.json":              `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch MARK/plugin-hook"}]}]}}`,
	"market/x/.mcp.json":                     `{"mcpServers": {"p": {"command": "touch", "args": ["MARK/plugin-server"]}}}`,
	"market/x/skills/y/SKILL.md":             "---\nname: y\ndescription: SAYMARK plugin\n---\nx\n",
	"market/x/commands/y.md":                 "---\ndescription: SAYMARK command\n---\nx\n",
	"market/x/.claude-plugin/plugin.json":    `{"name": "x", "version": "1.0.0"}`,
	"market/.claude-plugin/marketplace.json": `{"name": "market", "owner": {"name": "x"}, "plugins": [{"name": "x", "source": "./x"}]}`,
}

// Such a call cannot use the safe mode of claude. Other switches keep the user's hooks, plugins and memory files out.
func TestHostToolsWithoutHooks(t *testing.T) {
	for name, test := range map[string]struct {
		state   home.State
		control bool
	}{
		"key": {state: home.LoggedIn}, "plan": {state: home.Subscribed}, "without the switch": {home.Subscribed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specs.Claude()
			if test.control {
				spec = saying(spec, `{"disableAllHooks":true}`, `{}`)
			}
			c := startSpec(t, spec, test.state, flagsOnly, loopback.InOrder(addCall(home.Claude), loopback.Text(hello)))
			marks := t.TempDir()
			for file, text := range claudeOwn {
				c.home.Write(t, file, strings.ReplaceAll(text, "MARK/", marks+"/"))
			}
			for _, args := range [][]string{{"marketplace", "add", filepath.Join(c.home.Dir, "market")}, {"install", "x@market"}} {
				out, err := c.home.Command(t.Context(), append([]string{"plugin"}, args...)...).CombinedOutput()
				require.NoError(t, err, string(out))
			}
			add, calls := adder()
			_, err := hosttools.With(&c, add).Complete(t.Context(), clichain.Prompt("add 2 and 3"))
			require.NoError(t, err)
			require.Len(t, *calls, 1)
			entries, err := os.ReadDir(marks)
			require.NoError(t, err)
			require.Equal(t, test.control, len(entries) > 0, "%v", entries)
			for _, q := range c.server.Calls() {
				require.NotContains(t, string(q.Body), "SAYMARK")
				require.Equal(t, []string{"mcp__hosttools__add"}, q.Tools())
			}
		})
	}
}
