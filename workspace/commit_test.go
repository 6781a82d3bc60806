package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/workspace"
)

// change returns the changes of an agent that runs a script in a copy of a directory.
func change(t *testing.T, dir, script string) *call.Changes {
	t.Helper()
	b := workspace.New(agent(t, "a", script+"\n"+says(begin, writes, answers), clichain.Config{}), nil)
	resp, err := b.Complete(t.Context(), work(dir))
	require.NoError(t, err)
	return resp.Changes
}

// The paths of changes are relative to the work tree, also if the agent works in a directory below it.
func TestApplyInSubdirectory(t *testing.T) {
	top := repository(t)
	sub := filepath.Join(top, "sub")
	changes := change(t, sub, "echo four >>deep; echo five >>new")
	require.Equal(t, "sub", changes.Dir)
	for name, dir := range map[string]string{"work tree": top, "another directory": t.TempDir()} {
		require.Error(t, workspace.Apply(t.Context(), dir, changes), name)
	}
	require.NoError(t, workspace.Apply(t.Context(), sub, changes))
	require.Equal(t, "three\nfour\n", shell(t, top, "cat sub/deep"))
	require.Equal(t, "five\n", shell(t, top, "cat sub/new"))
}

// The directory in changes from an untrusted source does not select a directory above the repository.
func TestApplyStaysInRepository(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "app")
	require.NoError(t, os.Mkdir(dir, 0o700))
	shell(t, dir, "git init -q && mkdir sub && echo one >sub/file")
	changes := change(t, filepath.Join(dir, "sub"), "echo two >file")
	for _, below := range []string{"app/sub", "..", ".", "/sub", strings.TrimPrefix(filepath.Join(dir, "sub"), "/")} {
		changes.Dir = below
		require.ErrorContains(t, workspace.Apply(t.Context(), filepath.Join(dir, "sub"), changes), "is not that directory", below)
	}
	require.Equal(t, "one\n", shell(t, dir, "cat sub/file"))
}

func TestCommit(t *testing.T) {
	dir := repository(t)
	changes := change(t, dir, "echo x >>committed")
	before := contents(t, dir)
	commit, err := workspace.Commit(t.Context(), dir, "fix", "Add x", changes)
	require.NoError(t, err)
	require.Equal(t, commit+"\n", shell(t, dir, "git rev-parse fix"))
	require.Equal(t, "one\nx\n", shell(t, dir, "git show fix:committed"))
	require.Equal(t, "Add x\n", shell(t, dir, "git log -1 --format=%s fix"))
	after := contents(t, dir)
	for path, want := range before {
		if !strings.Contains(path, "/.git/") || strings.HasSuffix(path, "/index") {
			require.Equal(t, want, after[path], path)
		}
	}
}

// Changes that are based on uncommitted changes do not fit the commit.
func TestCommitConflict(t *testing.T) {
	dir := repository(t)
	changes := change(t, dir, "sed -i 's/more/most/' changed")
	_, err := workspace.Commit(t.Context(), dir, "fix", "Change most", changes)
	conflict := (*workspace.ConflictError)(nil)
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, []string{"changed"}, conflict.Files)
	require.Empty(t, shell(t, dir, "git branch --list fix"))
	require.NoError(t, workspace.Apply(t.Context(), dir, changes), "the work tree has the uncommitted changes")
}

func TestCommitOutsideRepository(t *testing.T) {
	dir := t.TempDir()
	changes := change(t, dir, "echo x >file")
	_, err := workspace.Commit(t.Context(), dir, "fix", "message", changes)
	require.ErrorContains(t, err, "not in the work tree of a git repository")
}

// Commit runs no filter, so the branch would have the content instead of the pointer of Git LFS.
func TestCommitRefusesFilteredFile(t *testing.T) {
	dir := repository(t)
	shell(t, dir, "git config filter.lfs.clean cat && echo '*.bin filter=lfs' >.gitattributes")
	changes := change(t, dir, "echo x >new.bin")
	_, err := workspace.Commit(t.Context(), dir, "fix", "message", changes)
	require.ErrorContains(t, err, `git filters "new.bin" in a commit`)
	require.Empty(t, shell(t, dir, "git branch --list fix"))
}

func TestCommitRefusesInvalidChanges(t *testing.T) {
	dir := repository(t)
	hidden := change(t, dir, "echo x >>committed; echo y >hidden")
	hidden.Files = hidden.Files[:1]
	for _, changes := range []*call.Changes{nil, hidden} {
		_, err := workspace.Commit(t.Context(), dir, "fix", "message", changes)
		require.ErrorContains(t, err, "the changes are not valid")
	}
	require.Empty(t, shell(t, dir, "git branch --list fix"))
}

func TestCheckBranch(t *testing.T) {
	dir := repository(t)
	require.NoError(t, workspace.CheckBranch(t.Context(), filepath.Join(dir, "sub"), "fix"))
	shell(t, dir, "git branch fix")
	require.ErrorContains(t, workspace.CheckBranch(t.Context(), dir, "fix"), `the branch "fix" exists already`)
	require.ErrorContains(t, workspace.CheckBranch(t.Context(), t.TempDir(), "fix"), "not in the work tree")
}
