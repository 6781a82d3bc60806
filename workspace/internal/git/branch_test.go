package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/workspace/internal/git"
)

const patchOfA = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"

// originalWithAuthor makes a repository with uncommitted changes, a hook, and an author.
func originalWithAuthor(t *testing.T) (dir string, o git.Original, own git.Repo) {
	t.Helper()
	dir = repository(t)
	plain(t, dir, "config", "user.name", "A")
	plain(t, dir, "config", "user.email", "a@example.com")
	write(t, dir, "other.txt", "uncommitted\n")
	write(t, dir, ".git/hooks/reference-transaction", "#!/bin/sh\ntouch '"+dir+"/hook-ran'\n")
	require.NoError(t, os.Chmod(filepath.Join(dir, ".git/hooks/reference-transaction"), 0o755))
	o, err := git.Find(t.Context(), dir)
	require.NoError(t, err)
	own, err = git.Init(t.Context(), filepath.Join(t.TempDir(), "own"), t.TempDir(), git.Options{Objects: []string{o.Objects}})
	require.NoError(t, err)
	return dir, o, own
}

func TestBranch(t *testing.T) {
	dir, o, own := originalWithAuthor(t)
	before := plain(t, dir, "status", "--porcelain")
	commit, err := o.Branch(t.Context(), own, "fix/a", "Change a", patchOfA)
	require.NoError(t, err)
	require.Equal(t, commit, plain(t, dir, "rev-parse", "fix/a"))
	require.Equal(t, o.Commit, plain(t, dir, "rev-parse", "fix/a^"))
	require.Equal(t, "two", plain(t, dir, "show", "fix/a:a.txt"))
	require.Equal(t, "A <a@example.com> Change a", plain(t, dir, "log", "-1", "--format=%an <%ae> %s", "fix/a"))
	require.Equal(t, before, plain(t, dir, "status", "--porcelain"))
	require.NoFileExists(t, filepath.Join(dir, "hook-ran"))
	plain(t, dir, "fsck", "--strict")
	plain(t, dir, "branch", "counter-proof")
	require.FileExists(t, filepath.Join(dir, "hook-ran"), "git itself runs the hook")
}

func TestBranchRefuses(t *testing.T) {
	for name, test := range map[string]struct{ branch, patch, want string }{
		"existing branch":       {"main", patchOfA, "exists already"},
		"branch as directory":   {"main/fix", patchOfA, `the branch "main" exists already`},
		"empty name":            {"", patchOfA, "not a valid branch name"},
		"earlier branch":        {"@{-1}", patchOfA, "@{-1}"},
		"invalid name":          {"a..b", patchOfA, "not a valid branch name"},
		"flag as the name":      {"--help", patchOfA, "branch"},
		"patch of another file": {"fix", "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-one\n+two\n", "does not exist in index"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, o, own := originalWithAuthor(t)
			_, err := o.Branch(t.Context(), own, test.branch, "message", test.patch)
			require.ErrorContains(t, err, test.want)
			require.Equal(t, "* main", plain(t, dir, "branch", "--list"))
		})
	}
}

// A check before an expensive run finds what would make Branch fail.
func TestCheckBranch(t *testing.T) {
	dir, o, _ := originalWithAuthor(t)
	plain(t, dir, "branch", "a/b")
	plain(t, dir, "checkout", "-q", "a/b")
	plain(t, dir, "checkout", "-q", "main")
	for _, name := range []string{"main", "a", "a/b", "a/b/c", "@{-1}", "x y"} {
		require.Error(t, o.CheckBranch(t.Context(), name), name)
	}
	for _, name := range []string{"fix", "a/c", "mainly"} {
		require.NoError(t, o.CheckBranch(t.Context(), name), name)
	}
	plain(t, dir, "config", "user.email", "")
	require.ErrorContains(t, o.CheckBranch(t.Context(), "fix"), "no author")
}

func TestFiltered(t *testing.T) {
	dir, o, _ := originalWithAuthor(t)
	write(t, dir, ".gitattributes", "*.up filter=up\n*.none filter=none\n*.text text\n")
	paths := []string{"a.txt", "b.none", "c.text", "new\nline.up"}
	path, err := o.Filtered(t.Context(), paths)
	require.NoError(t, err)
	require.Empty(t, path)
	plain(t, dir, "config", "filter.up.clean", "tr a-z A-Z")
	path, err = o.Filtered(t.Context(), paths)
	require.NoError(t, err)
	require.Equal(t, "new\nline.up", path)
}

func TestBranchNeedsAuthor(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir, o, own := originalWithAuthor(t)
	plain(t, dir, "config", "--unset", "user.email")
	_, err := o.Branch(t.Context(), own, "fix", "message", patchOfA)
	require.EqualError(t, err, "workspace: git has no author for the commit: run git config --global user.email VALUE")
}
