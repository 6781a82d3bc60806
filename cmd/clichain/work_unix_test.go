//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain"
	"github.com/stretchr/testify/require"
)

// workplace is a world with git and a shell, and a repository with the file "code".
type workplace struct {
	*world
	dir string
}

func newWorkplace(t *testing.T) *workplace {
	w := &workplace{newWorld(t), filepath.Join(t.TempDir(), "app")}
	for _, tool := range []string{"git", "sh", "grep"} {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(w.bin, tool)))
	}
	require.NoError(t, os.Mkdir(w.dir, 0o700))
	w.script(`git init -q && git config user.name A && git config user.email a@example.com && echo old >code && git add . && git commit -q -m first`)
	return w
}

// script runs a shell script in the repository.
func (w *workplace) script(text string) string {
	w.t.Helper()
	cmd := exec.Command("sh", "-c", text)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	return string(out)
}

// work runs the command work in the repository.
func (w *workplace) work(args ...string) (stdout, stderr string, status int) {
	w.t.Helper()
	cmd := w.command(append([]string{"work", "--assume-isolated", "Change it"}, args...)...)
	cmd.Dir = w.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		require.ErrorAs(w.t, err, new(*exec.ExitError))
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func (w *workplace) code() string { return w.script("cat code") }

func TestWorkPrintsPatch(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "code=new")
	stdout, stderr, status := w.work()
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "diff --git a/code b/code\n")
	require.Contains(t, stdout, "-old\n+new\n")
	require.Contains(t, stderr, "I wrote code.")
	require.Contains(t, stderr, "modified  +1 −1        code")
	require.Contains(t, stderr, "1 file of claude: +1 −1")
	require.Equal(t, "old\n", w.code())
	apply := exec.Command("git", "apply")
	apply.Dir, apply.Stdin = w.dir, strings.NewReader(stdout)
	require.NoError(t, apply.Run())
	require.Equal(t, "new\n", w.code())
}

func TestWorkApplies(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "code=new")
	stdout, stderr, status := w.work("--apply", "--config", loggingConfig(t))
	require.Zero(t, status, stderr)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "clichain: applied to "+w.dir)
	require.Equal(t, "new\n", w.code())
	calls := w.logged()
	require.Len(t, calls, 1)
	project, err := filepath.EvalSymlinks(w.dir)
	require.NoError(t, err)
	require.Equal(t, project, calls[0].Project)
}

func TestWorkWritesPatchFile(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "code=new")
	file := filepath.Join(t.TempDir(), "fix.patch")
	stdout, stderr, status := w.work("--patch", file)
	require.Zero(t, status, stderr)
	require.Empty(t, stdout)
	patch, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(patch), "+new\n")
	require.Equal(t, "old\n", w.code())
}

// The command keeps a patch that it cannot write to the file of --patch.
func TestWorkKeepsPatch(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "code=new")
	_, stderr, status := w.work("--patch", filepath.Join("missing", "fix.patch"))
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "--patch: open missing")
	require.Contains(t, stderr, "the patch is in ./clichain-")
	kept, err := filepath.Glob(filepath.Join(w.dir, "clichain-*.patch"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
}

func TestWorkCommitsToBranch(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "code=new")
	_, stderr, status := w.work("--branch", "fix")
	require.Zero(t, status, stderr)
	require.Contains(t, stderr, "clichain: committed to the branch fix")
	require.Equal(t, "new\n", w.script("git show fix:code"))
	require.Equal(t, "I wrote code.\n", w.script("git log -1 --format=%s fix"))
	require.Equal(t, "old\n", w.code())
	for _, branch := range []string{"fix", "fix/more", "a..b"} {
		_, stderr, status = w.work("--branch", branch)
		require.Equal(t, 2, status, "before any agent starts: %s", stderr)
		require.Contains(t, stderr, "clichain: --branch: ")
	}
}

// The first agent says that it is done, but the check fails. The second one gets a new copy.
func TestWorkContinuesAfterCheck(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "wrong=x")
	w.fake("codex", "write", "code=new")
	stdout, stderr, status := w.work("--only", "claude,codex", "--check", "grep -q new code", "--check", "sh -c 'test ! -e wrong'")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "+new\n")
	require.NotContains(t, stdout, "wrong")
	require.Contains(t, stderr, "of codex")
}

func TestWorkRejected(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "code=wrong")
	w.fake("codex", "write", "code=bad")
	stdout, stderr, status := w.work("--only", "claude,codex", "--check", "sh -c 'echo first line; echo code is broken; exit 1'")
	require.Equal(t, 1, status)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "claude  rejected  the check ")
	require.Contains(t, stderr, "codex   rejected  the check ")
	require.Equal(t, 2, strings.Count(stderr, "  code is broken\n"), stderr)
	require.Equal(t, "old\n", w.code())
}

func TestWorkWithoutChanges(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "answer", "All is well.")
	stdout, stderr, status := w.work("--apply")
	require.Equal(t, 4, status)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "All is well.")
	require.Contains(t, stderr, "clichain: claude changed no file")
}

// The file changes while the agent works. The patch is kept, because the work was expensive.
func TestWorkConflict(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "code=new")
	code := filepath.Join(w.dir, "code")
	_, stderr, status := w.work("--apply", "--confine", "off", "--check", "sh -c 'echo other > "+code+"'")
	require.Equal(t, 5, status, stderr)
	require.Contains(t, stderr, `"code"`)
	require.Equal(t, "other\n", w.code())
	kept, err := filepath.Glob(filepath.Join(w.dir, "clichain-*.patch"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	patch, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	require.Contains(t, string(patch), "+new\n")
}

func TestWorkJSON(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "write", "code=new")
	stdout, stderr, status := w.work("--json", "--apply")
	require.Zero(t, status, stderr)
	var out struct {
		Response clichain.Response
		Applied  bool
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &out))
	require.True(t, out.Applied)
	require.Equal(t, "claude", out.Response.Backend)
	require.Equal(t, "code", out.Response.Changes.Files[0].Path)
	require.Equal(t, "new\n", w.code())
}

// An agent without changes still has a response, and a conflict adds the error and the name of the patch.
func TestWorkJSONWithoutApply(t *testing.T) {
	t.Parallel()
	w := newWorkplace(t)
	w.fake("claude", "answer", "All is well.")
	stdout, stderr, status := w.work("--json")
	require.Equal(t, 4, status, stderr)
	var out struct {
		Response clichain.Response
		Applied  *bool
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &out))
	require.Equal(t, "All is well.", out.Response.Text)
	require.Empty(t, out.Response.Changes.Files)
	require.NotNil(t, out.Applied)
	require.False(t, *out.Applied)
	w.fake("claude", "write", "code=new")
	code := filepath.Join(w.dir, "code")
	stdout, stderr, status = w.work("--json", "--apply", "--confine", "off", "--check", "sh -c 'echo other > "+code+"'")
	require.Equal(t, 5, status, stderr)
	var conflict struct {
		Response clichain.Response
		Applied  bool
		Patch    string `json:"patch_file"`
		Error    struct{ Message string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &conflict))
	require.Equal(t, "code", conflict.Response.Changes.Files[0].Path)
	require.False(t, conflict.Applied)
	require.Contains(t, conflict.Error.Message, "has changed in the same places; the patch is in "+conflict.Patch)
	require.FileExists(t, filepath.Join(w.dir, conflict.Patch))
	require.Equal(t, "other\n", w.code())
}

func TestWorkRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"missing check":       {[]string{"--check", "no-such-program x"}, "no-such-program"},
		"unfinished quote":    {[]string{"--check", "sh 'x"}, "--check: "},
		"missing directory":   {[]string{"--dir", "nowhere"}, "--dir"},
		"missing carry":       {[]string{"--carry", "nowhere"}, "nowhere"},
		"carry outside":       {[]string{"--carry", "../other"}, "../other"},
		"patch and apply":     {[]string{"--apply", "--patch", "x"}, "apply patch"},
		"access":              {[]string{"--access", "read"}, "unknown flag: --access"},
		"unknown flag's name": {[]string{"--chek", "x"}, "did you mean --check?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkplace(t)
			w.fake("claude", "write", "code=new")
			stdout, stderr, status := w.work(test.args...)
			require.NotZero(t, status)
			require.Empty(t, stdout)
			require.Contains(t, stderr, test.want)
			require.Equal(t, "old\n", w.code())
		})
	}
}
