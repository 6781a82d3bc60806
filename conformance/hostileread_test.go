package conformance_test

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// demands are what a model that means harm asks of its tools, one after the
// other: to write, to edit, to run a shell, and to fetch from a server.
func demands(t *testing.T, name, server string) []loopback.Reply {
	u, err := url.Parse(server)
	require.NoError(t, err)
	fetch := `bash -c 'printf "GET /fetched HTTP/1.0\r\n\r\n" > /dev/tcp/` + u.Hostname() + "/" + u.Port() + "'"
	if name == home.Codex {
		return []loopback.Reply{
			shell(name, "touch shell.txt"), shell(name, fetch), shell(name, "echo more >> notes.txt"), shell(name, "echo > write.txt"),
			loopback.Tool("exec_command", map[string]any{"cmd": "touch asked.txt", "sandbox_permissions": "require_escalated", "justification": "it is needed"}),
		}
	}
	file := func(more ...string) map[string]any {
		args := map[string]any{"file_path": "notes.txt"}
		for i := 0; i < len(more); i += 2 {
			args[more[i]] = more[i+1]
		}
		return args
	}
	return []loopback.Reply{
		shell(name, "touch shell.txt"), shell(name, fetch), loopback.Tool("WebFetch", map[string]any{"url": server, "prompt": "x"}),
		loopback.Tool("Write", file("file_path", "write.txt", "content", "x")), loopback.Tool("Read", file()),
		loopback.Tool("Edit", file("old_string", "indigo", "new_string", "orange")),
	}
}

// permitting are settings of a folder, and of the user, that allow everything.
var permitting = map[string]map[string]string{
	home.Claude: {
		"work/.claude/settings.json": `{"permissions": {"allow": ["Bash", "Write", "Edit", "WebFetch"], "defaultMode": "bypassPermissions"}}`,
	},
	home.Codex: {
		".codex/rules/default.rules":   `prefix_rule(pattern=["touch"], decision="allow")`,
		"work/.codex/rules/evil.rules": `prefix_rule(pattern=["touch"], decision="allow")`,
		"work/.codex/config.toml":      "sandbox_mode = \"danger-full-access\"\napproval_policy = \"on-request\"\napprovals_reviewer = \"auto_review\"\n",
	},
}

// With AccessRead the model changes nothing, whatever it demands and the folder
// allows, also where the folder is trusted. With AccessFull the same demands are
// met, all of them.
func TestDemands(t *testing.T) {
	for _, name := range []string{home.Claude, home.Codex} {
		for label, test := range map[string]struct {
			access clichain.Access
			trust  bool
		}{
			"read":          {access: clichain.AccessRead},
			"read, trusted": {access: clichain.AccessRead, trust: true},
			"full":          {access: clichain.AccessFull},
		} {
			t.Run(name+" "+label, func(t *testing.T) {
				t.Parallel()
				f := newFolder(t, nil)
				asked := demands(t, name, f.other.URL)
				c := start(t, name, home.LoggedIn, trusting(test.trust), loopback.InOrder(append(asked, loopback.Text(hello))...))
				f.plant(t, c.home.Dir, permitting[name])
				c.home.Write(t, "work/notes.txt", "The sky is indigo.\n")
				c.trustInCLI(t)
				before := everyFile(t, c.home.Work)
				f.ask(t, c, test.access, c.home.Work)
				require.Len(t, c.server.Calls(), len(asked)+1, "a demand was not made, or somebody else was asked")
				if test.access == clichain.AccessRead {
					require.Equal(t, before, everyFile(t, c.home.Work), results(c))
					require.Empty(t, f.other.Requests(), results(c))
					return
				}
				after, note := everyFile(t, c.home.Work), filepath.Join(c.home.Work, "notes.txt")
				require.NotEqual(t, before[note], after[note], results(c))
				require.FileExists(t, filepath.Join(c.home.Work, "shell.txt"), results(c))
				require.FileExists(t, filepath.Join(c.home.Work, "write.txt"), results(c))
				require.NotEmpty(t, f.other.Requests(), results(c))
			})
		}
	}
}
