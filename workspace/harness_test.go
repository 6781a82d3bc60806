package workspace_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/specs"
	"github.com/clichain/clichain/workspace"
)

// repository makes a repository with one commit, one uncommitted change and one untracked file.
func repository(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "app")
	require.NoError(t, os.Mkdir(dir, 0o700))
	shell(t, dir, `git init -q && git config user.name A && git config user.email a@example.com &&
		echo one >committed && echo two >changed && mkdir sub && echo three >sub/deep && git add . &&
		git commit -q -m first && echo more >>changed && echo new >untracked`)
	return dir
}

// shell runs a script that prepares a directory.
func shell(t testing.TB, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// contents returns the modes, times and contents of all files below a directory, with those of git. Git sets the times
// of objects that it needs.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		files[path] = info.Mode().String()
		if !strings.Contains(path, "/.git/objects/") {
			files[path] += info.ModTime().String()
		}
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			files[path] += string(data)
		}
		return nil
	}))
	return files
}

// The lines of a CLI with the output of claude. PWD in a line is the working directory.
const (
	begin  = `{"type":"system","subtype":"init","session_id":"s1","model":"opus"}`
	writes = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Write",` +
		`"input":{"file_path":"PWD/made"}}]}}`
	usesServer = `{"type":"assistant","message":{"content":[` +
		`{"type":"tool_use","id":"t1","name":"mcp__a__b","input":{}}]}}`
	answers = `{"type":"assistant","message":{"content":[{"type":"text","text":"done in PWD"}]}}` + "\n" +
		`{"type":"result","subtype":"success","is_error":false,"result":"done in PWD","session_id":"s1","num_turns":1}`
	retries = `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":500,` +
		`"error_status":529,"error":"overloaded"}`
	hitsLimit = `{"type":"result","subtype":"success","is_error":true,"session_id":"s1","num_turns":2,` +
		`"result":"Claude AI usage limit reached|4102444800"}`
)

// says is the command of a script that prints lines.
func says(lines ...string) string {
	quoted := strings.ReplaceAll(strings.Join(lines, "\n"), "'", `'\''`)
	return fmt.Sprintf("printf '%%s\\n' '%s' | sed \"s|PWD|$PWD|g\"\n", quoted)
}

// agent returns a Provider whose CLI is a shell script. The kernel confines it unless cfg tells otherwise.
func agent(t testing.TB, name, script string, cfg clichain.Config) *clichain.Provider {
	t.Helper()
	path := filepath.Join(t.TempDir(), "claude")
	cmd := exec.Command("sh", "-c", `cat >"$1" && chmod 755 "$1"`, "sh", path) // this process never has it open
	cmd.Stdin = strings.NewReader("#!/bin/sh\ncat >/dev/null\n" + script)
	require.NoError(t, cmd.Run())
	cfg.Name, cfg.Binary = name, path
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Minute
	}
	if cfg.Confine == "" {
		cfg.Confine = call.ConfineAuto
	}
	return clichain.NewProvider(specs.Claude(), &cfg)
}

// needConfinement skips a test on a system that cannot confine programs.
func needConfinement(t testing.TB) {
	t.Helper()
	if _, err := landlock.Usable(); err != nil {
		t.Skip("this system cannot confine programs: ", err)
	}
}

// work returns a request with write access.
func work(dir string) clichain.Request {
	req := clichain.Prompt("change the files")
	req.Access, req.Dir = clichain.AccessWrite, dir
	return req
}

// wrapped returns the backends in a workspace each.
func wrapped(cfg *workspace.Config, backends ...clichain.Backend) []clichain.Backend {
	for i, b := range backends {
		backends[i] = workspace.New(b, cfg)
	}
	return backends
}

// clean requires that a call left nothing: the directory is unchanged, temp has no files of a call, and no copy has the
// changes of an agent.
func clean(t testing.TB, dir string, before map[string]string) {
	t.Helper()
	unchanged(t, dir, before)
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "clichain-*"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, filepath.WalkDir(cache(), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "made" {
			t.Error("the copy has a file of the agent: ", path)
		}
		return nil
	}))
}

// unchanged requires that a directory has the contents that it had before.
func unchanged(t testing.TB, dir string, before map[string]string) {
	t.Helper()
	var changed []string
	after := contents(t, dir)
	for path := range before {
		if after[path] != before[path] {
			changed = append(changed, path)
		}
	}
	require.Empty(t, changed, "the original changed")
	require.Len(t, after, len(before), "the original has more files")
}

func cache() string {
	dir, _ := os.UserCacheDir() // TestMain has set the home directory
	return filepath.Join(dir, "clichain", "work")
}
