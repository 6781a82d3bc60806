package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/workspace"
)

func TestNewReturnsChanges(t *testing.T) {
	needConfinement(t)
	dir := repository(t)
	before := contents(t, dir)
	script := says(begin, writes) + "echo x >made && echo more >>changed && rm committed\n" + says(answers)
	b := workspace.New(agent(t, "claude", script, clichain.Config{}), nil)
	require.Equal(t, "claude", b.Name())
	resp, err := b.Complete(t.Context(), work(dir))
	require.NoError(t, err)
	require.Equal(t, "done in "+dir, resp.Text)
	require.Empty(t, resp.Session)
	require.Regexp(t, "^landlock", resp.Confined)
	require.False(t, resp.Changes.SideEffects)
	kinds := map[string]call.ChangeKind{}
	for _, f := range resp.Changes.Files {
		kinds[f.Path] = f.Kind
	}
	require.Equal(t, map[string]call.ChangeKind{
		"made": call.ChangeAdded, "changed": call.ChangeModified, "committed": call.ChangeDeleted,
	}, kinds)
	require.Contains(t, resp.Changes.Patch, "+++ b/made\n")
	require.Equal(t, strings.TrimSpace(shell(t, dir, "git rev-parse HEAD")), resp.Changes.Commit)
	clean(t, dir, before)
}

func TestNewInSubdirectory(t *testing.T) {
	dir := repository(t)
	script := says(begin) + "cat deep && echo x >made\n" + says(answers)
	b := workspace.New(agent(t, "claude", script, clichain.Config{}), nil)
	resp, err := b.Complete(t.Context(), work(filepath.Join(dir, "sub")))
	require.NoError(t, err)
	require.Equal(t, "done in "+filepath.Join(dir, "sub"), resp.Text)
	require.Len(t, resp.Changes.Files, 1)
}

func TestNewWithoutChanges(t *testing.T) {
	dir := repository(t)
	b := workspace.New(agent(t, "claude", says(begin, answers), clichain.Config{}), nil)
	resp, err := b.Complete(t.Context(), work(dir))
	require.NoError(t, err)
	require.Empty(t, resp.Changes.Files)
	require.Empty(t, resp.Changes.Patch)
}

// The second attempt begins with the files of the original, and delivers its patch.
func TestChainContinuesAfterFailedAttempt(t *testing.T) {
	needConfinement(t)
	const spoil = "echo bad >made && rm committed && git -C . config core.fsmonitor /bin/false\n"
	for name, test := range map[string]struct {
		script string
		reason call.Reason
	}{
		"dies":          {says(begin, writes) + spoil + "kill -9 $$\n", call.ReasonKilled},
		"fails":         {says(begin, writes) + spoil + "echo broken >&2; exit 1\n", call.ReasonExit},
		"usage limit":   {says(begin, writes) + spoil + says(hitsLimit) + "exit 1\n", call.ReasonUsageLimit},
		"retries":       {says(begin, writes) + spoil + says(retries) + "tail -f /dev/null\n", call.ReasonOverloaded},
		"broken build":  {says(begin, writes) + spoil + says(answers), call.ReasonRejected},
		"removes check": {says(begin, writes) + spoil + "rm -rf check.sh\n" + says(answers), call.ReasonRejected},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t)
			shell(t, dir, `cat >check.sh <<"END"; chmod 755 check.sh
#!/bin/sh
grep -q good made || { echo "made is $(cat made)"; exit 1; }
: >by-check
END`)
			before := contents(t, dir)
			second := says(begin, writes) + "test ! -e made && cat committed && echo good >made\n" + says(answers)
			chain := clichain.ChainOf(wrapped(&workspace.Config{Checks: [][]string{{"./check.sh"}}},
				agent(t, "first", test.script, clichain.Config{}), agent(t, "second", second, clichain.Config{})), nil)
			resp, err := chain.Complete(t.Context(), work(dir))
			require.NoError(t, err)
			require.Equal(t, "second", resp.Backend)
			require.Len(t, resp.Changes.Files, 1)
			require.Contains(t, resp.Changes.Patch, "+good\n")
			require.Len(t, resp.Attempts, 1)
			failed, ok := errors.AsType[*call.Error](resp.Attempts[0].Err)
			require.True(t, ok)
			require.Equal(t, test.reason, failed.Reason, "%v", failed)
			require.True(t, failed.Discarded)
			require.False(t, failed.SideEffects)
			require.Regexp(t, "^landlock", failed.Confined)
			require.NotContains(t, failed.Error(), cache())
			if name == "broken build" {
				require.Contains(t, failed.Message, `the check "./check.sh" failed: exit status 1: made is bad`)
				require.Equal(t, "done in "+dir, failed.Partial)
			}
			clean(t, dir, before)
		})
	}
}

// The chain ends if a failed attempt may have changed something outside its copy.
func TestChainEndsAfterSideEffects(t *testing.T) {
	needConfinement(t)
	off := clichain.Config{Confine: call.ConfineOff}
	listed := workspace.Config{LocalTools: []string{"mcp__a__b"}}
	servers := []json.RawMessage{json.RawMessage(`{"mcpServers": {"a": {"command": "false"}}}`)}
	for name, test := range map[string]struct {
		tool    string
		first   clichain.Config
		cfg     workspace.Config
		servers []json.RawMessage
		ends    bool
	}{
		"unconfined":              {writes, off, workspace.Config{}, nil, true},
		"assumed to be isolated":  {writes, off, workspace.Config{AssumeIsolated: true}, nil, false},
		"confined":                {writes, clichain.Config{}, workspace.Config{}, nil, false},
		"tool of a server":        {usesServer, clichain.Config{}, workspace.Config{}, nil, true},
		"isolated tool of server": {usesServer, off, workspace.Config{AssumeIsolated: true}, nil, true},
		"listed tool of a server": {usesServer, clichain.Config{}, listed, nil, false},
		"unused server":           {writes, clichain.Config{}, workspace.Config{}, servers, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t)
			before := contents(t, dir)
			chain := clichain.ChainOf(wrapped(&test.cfg,
				agent(t, "first", says(begin, test.tool)+"echo x >made; exit 1\n", test.first),
				agent(t, "second", says(begin, answers), clichain.Config{})), nil)
			req := work(dir)
			req.Options.MCPConfig = test.servers
			resp, err := chain.Complete(t.Context(), req)
			clean(t, dir, before)
			if !test.ends {
				require.NoError(t, err)
				require.Equal(t, "second", resp.Backend)
				return
			}
			ended, ok := errors.AsType[*clichain.ChainError](err)
			require.True(t, ok, "%v", err)
			require.Contains(t, ended.Note, "may have used a tool that changed something")
		})
	}
}

func TestNewReportsSideEffectsOfAnswer(t *testing.T) {
	needConfinement(t)
	for tool, outside := range map[string]bool{writes: false, usesServer: true} {
		b := workspace.New(agent(t, "claude", says(begin, tool, answers), clichain.Config{}), nil)
		resp, err := b.Complete(t.Context(), work(repository(t)))
		require.NoError(t, err)
		require.Equal(t, outside, resp.Changes.SideEffects)
	}
}

type request = clichain.Request

func TestNewRefuses(t *testing.T) {
	dir := repository(t)
	file := filepath.Join(dir, "committed")
	checks := func(args ...string) *workspace.Config { return &workspace.Config{Checks: [][]string{args}} }
	for name, test := range map[string]struct {
		change func(*clichain.Request)
		cfg    *workspace.Config
		option string
		reason call.Reason
	}{
		"full access":        {func(r *request) { r.Access = clichain.AccessFull }, nil, "access", call.ReasonUnsupported},
		"session":            {func(r *request) { r.Session = "claude:s1" }, nil, "session", call.ReasonUnsupported},
		"continue":           {func(r *request) { r.Options.Continue = true }, nil, "continue", call.ReasonUnsupported},
		"session id":         {func(r *request) { r.Options.SessionID = "x" }, nil, "session_id", call.ReasonUnsupported},
		"directories":        {func(r *request) { r.Options.AddDirs = []string{dir} }, nil, "add_dirs", call.ReasonUnsupported},
		"missing directory":  {func(r *request) { r.Dir += "x" }, nil, "dir", call.ReasonBadOption},
		"file as directory":  {func(r *request) { r.Dir = file }, nil, "dir", call.ReasonBadOption},
		"empty request":      {func(r *request) { r.Messages = nil }, nil, "messages", call.ReasonBadOption},
		"missing check":      {func(*request) {}, checks("no-such-program"), "workspace.checks", call.ReasonBadOption},
		"check without name": {func(*request) {}, checks(), "workspace.checks", call.ReasonBadOption},
	} {
		t.Run(name, func(t *testing.T) {
			b := workspace.New(agent(t, "claude", says(begin, answers), clichain.Config{}), test.cfg)
			req := work(dir)
			test.change(&req)
			_, err := b.Complete(t.Context(), req)
			failed, ok := errors.AsType[*call.Error](err)
			require.True(t, ok)
			require.Equal(t, test.reason, failed.Reason, "%v", err)
			require.Equal(t, test.option, failed.Option)
			require.Equal(t, call.StageSkipped, failed.Stage)
			require.Equal(t, "claude", failed.Backend)
			checked := b.(interface {
				Check(context.Context, clichain.Request) error
			}).Check(t.Context(), req)
			require.Equal(t, err, checked)
		})
	}
}

func TestNewRefusesContainer(t *testing.T) {
	b := workspace.New(agent(t, "claude", "", clichain.Config{Container: &clichain.Container{}}), nil)
	_, err := b.Complete(t.Context(), work(repository(t)))
	require.ErrorIs(t, err, call.ErrUnsupported)
	require.ErrorContains(t, err, "config.container")
}

// A file that the original has, but not the copy, also makes the directory untrusted.
func TestNewTrustsByOriginal(t *testing.T) {
	dir := repository(t)
	shell(t, dir, "echo .mcp.json >.gitignore; echo '{}' >.mcp.json")
	for _, trust := range []bool{true, false} {
		p := agent(t, "claude", says(begin, answers), clichain.Config{TrustDir: trust})
		require.Equal(t, p.Check(t.Context(), work(dir)) == nil, complete(t, p, dir) == nil)
	}
}

func complete(t *testing.T, b clichain.Backend, dir string) error {
	_, err := workspace.New(b, nil).Complete(t.Context(), work(dir))
	return err
}

func TestNewPassesLowerAccess(t *testing.T) {
	dir := repository(t)
	for _, access := range []clichain.Access{clichain.AccessNone, clichain.AccessRead} {
		req := clichain.Prompt("x")
		if req.Access = access; access == clichain.AccessRead {
			req.Dir, req.Session = dir, "x:y"
		}
		var got clichain.Request
		answer := func(_ context.Context, r clichain.Request) (*clichain.Response, error) {
			got = r
			return &clichain.Response{Text: "x", Session: "f:1"}, nil
		}
		b := workspace.New(clichain.BackendFunc("f", answer), &workspace.Config{Checks: [][]string{{"no-such-program"}}})
		resp, err := b.Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, req, got)
		require.Nil(t, resp.Changes)
		require.Equal(t, "f:1", resp.Session)
		require.NoError(t, b.(interface{ Available(context.Context) error }).Available(t.Context()))
	}
}

func TestNewUsesDirectoryOfProcess(t *testing.T) {
	dir := repository(t)
	t.Chdir(dir)
	resp, err := workspace.New(writer("f"), nil).Complete(t.Context(), work(""))
	require.NoError(t, err)
	require.Len(t, resp.Changes.Files, 1)
	require.NoFileExists(t, filepath.Join(dir, "made"))
}

// writer is a backend without a CLI that writes a file.
func writer(name string) clichain.Backend {
	return clichain.BackendFunc(name, func(_ context.Context, r clichain.Request) (*clichain.Response, error) {
		err := os.WriteFile(filepath.Join(r.Dir, "made"), []byte("by "+name+"\n"), 0o600)
		return &clichain.Response{Text: "wrote " + r.Dir + "/made"}, err
	})
}

// A chain knows the Provider in a workspace: its cooldowns and its model names.
func TestChainKnowsWrappedProvider(t *testing.T) {
	needConfinement(t)
	aliases := clichain.Config{ModelAliases: map[string]string{"big": "opus"}}
	first := agent(t, "first", says(begin, writes, hitsLimit)+"exit 1\n", aliases)
	chain := clichain.ChainOf(wrapped(nil, first, writer("second")), nil)
	dir := repository(t)
	for _, skipped := range []bool{false, true} {
		resp, err := chain.Complete(t.Context(), work(dir))
		require.NoError(t, err)
		require.Equal(t, "second", resp.Backend)
		require.Equal(t, "wrote "+dir+"/made", resp.Text)
		require.Equal(t, skipped, resp.Attempts[0].Skipped)
	}
	req := work(dir)
	req.Model = "big"
	_, err := clichain.ChainOf(wrapped(nil, first), nil).Complete(t.Context(), req)
	require.ErrorIs(t, err, call.ErrUsageLimit)
}
