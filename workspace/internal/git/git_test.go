package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/workspace/internal/git"
)

// plain runs git as a user does, with a configuration that only has a name for commits.
func plain(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %s: %s", strings.Join(args, " "), out)
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, data string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(data), 0o644))
}

// repository makes a repository with one commit of one file.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	plain(t, dir, "init", "-q", "-b", "main")
	write(t, dir, "a.txt", "one\n")
	plain(t, dir, "add", "-A")
	plain(t, dir, "commit", "-q", "-m", "one")
	return dir
}

func own(t *testing.T, files string, o git.Options) git.Repo {
	t.Helper()
	r, err := git.Init(t.Context(), filepath.Join(t.TempDir(), "own \"git\"\n"), files, o)
	require.NoError(t, err)
	return r
}

func TestRepoReadsObjectsOfOriginal(t *testing.T) {
	dir := repository(t)
	o, err := git.Find(t.Context(), dir)
	require.NoError(t, err)
	files := t.TempDir()
	r := own(t, files, git.Options{Objects: []string{o.Objects}, Format: o.Format})
	_, err = r.Run(t.Context(), nil, "read-tree", o.Commit)
	require.NoError(t, err)
	_, err = r.Run(t.Context(), nil, "checkout-index", "-a", "-u", "-f")
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(files, "a.txt"))
	require.NoError(t, err)
	require.Equal(t, "one\n", string(data))
}

func TestFind(t *testing.T) {
	dir := repository(t)
	write(t, dir, "sub/b.txt", "two\n")
	o, err := git.Find(t.Context(), filepath.Join(dir, "sub"))
	require.NoError(t, err)
	require.Equal(t, git.Original{
		Top: dir, GitDir: filepath.Join(dir, ".git"), CommonDir: filepath.Join(dir, ".git"),
		Objects: filepath.Join(dir, ".git", "objects"), Index: filepath.Join(dir, ".git", "index"),
		Commit: plain(t, dir, "rev-parse", "HEAD"), Ref: "refs/heads/main", Format: "sha1",
	}, o)

	tree := filepath.Join(t.TempDir(), "tree")
	plain(t, dir, "worktree", "add", "-q", "--detach", tree)
	w, err := git.Find(t.Context(), tree)
	require.NoError(t, err)
	require.Equal(t, o.Commit, w.Commit)
	require.Empty(t, w.Ref)
	require.Equal(t, o.Objects, w.Objects)
	require.NotEqual(t, o.Index, w.Index)

	unborn := t.TempDir()
	plain(t, unborn, "init", "-q", "-b", "main")
	o, err = git.Find(t.Context(), unborn)
	require.NoError(t, err)
	require.Empty(t, o.Commit)
	require.Equal(t, "refs/heads/main", o.Ref)

	for _, outside := range []string{t.TempDir(), filepath.Join(dir, ".git")} {
		_, err = git.Find(t.Context(), outside)
		require.ErrorIs(t, err, git.ErrNoRepository)
	}
}

// A git before 2.31 prints flags that it does not know.
func TestFindWithOldGit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the git of this test is a shell script")
	}
	bin := t.TempDir()
	write(t, bin, "git", "#!/bin/sh\necho --path-format=absolute\necho /top\n")
	require.NoError(t, os.Chmod(filepath.Join(bin, "git"), 0o700))
	t.Setenv("PATH", bin)
	_, err := git.Find(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "install git 2.31 or later")
}

func TestStatusOfOriginal(t *testing.T) {
	dir := repository(t)
	write(t, dir, ".gitignore", "*.log\n")
	write(t, dir, "a.txt", "changed\n")
	write(t, dir, "new\nline", "new\n")
	write(t, dir, "x.log", "log\n")
	write(t, dir, "mine", "mine\n")
	write(t, dir, ".git/info/exclude", "mine\n")
	o, err := git.Find(t.Context(), dir)
	require.NoError(t, err)
	excludes, err := o.Excludes(t.Context())
	require.NoError(t, err)
	r := own(t, t.TempDir(), git.Options{Objects: []string{o.Objects}, Excludes: excludes})
	before := plain(t, dir, "status", "--porcelain=v2", "-z", "--untracked-files=all")
	out, err := o.Status(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, before, string(out))
	require.Contains(t, before, "? new\nline\x00")
}

func TestAskRefusesWhatIsNoQuestion(t *testing.T) {
	dir := repository(t)
	o, err := git.Find(t.Context(), dir)
	require.NoError(t, err)
	out, err := o.Ask(t.Context(), nil, "config", "--get", "core.bare")
	require.NoError(t, err)
	require.Equal(t, "false\n", string(out))
	for _, args := range [][]string{
		{}, {"status"}, {"config", "a.b", "c"}, {"config", "--edit"}, {"config", "--get", "--edit"}, {"ls-files", "-m"},
		{"ls-files", "--mod"}, {"ls-files", "-zm"}, {"diff"}, {"-c", "x=y"},
	} {
		_, err := o.Ask(t.Context(), nil, args...)
		require.ErrorContains(t, err, "not a question", "%q", args)
	}
}

func TestMissingProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := git.Find(t.Context(), t.TempDir())
	require.ErrorIs(t, err, git.ErrMissing)
	require.EqualError(t, err, "workspace: the program git is not on PATH; install git")
}

func TestErrorHasMessage(t *testing.T) {
	r := own(t, t.TempDir(), git.Options{})
	_, err := r.Run(t.Context(), nil, "-c", "a.b=c", "cat-file", "-p", "no-such-name")
	failure := (*git.Error)(nil)
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "cat-file", failure.Command)
	require.ErrorContains(t, err, "Not a valid object name no-such-name")
}
