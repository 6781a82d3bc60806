package tree

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/clichain/clichain/workspace/internal/git"
)

// plain runs git as a user does. It may fail, because some plants make git fail after they ran.
func plain(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	_ = cmd.Run()
}

func put(t *testing.T, dir, name, data string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(data), 0o644))
	require.NoError(t, os.Chmod(path, mode))
}

// Each plant is something in the files that makes git run the program ./plant.
var plants = map[string]struct {
	plant func(t *testing.T, dir, program string)
	run   [][]string // commands with which plain git runs the program
}{
	"file system monitor": {func(t *testing.T, dir, program string) {
		plain(t, dir, "config", "core.fsmonitor", program)
	}, [][]string{{"status"}}},
	"hook": {func(t *testing.T, dir, program string) {
		require.NoError(t, os.Symlink(program, filepath.Join(dir, ".git", "hooks", "post-index-change")))
	}, [][]string{{"add", "-A"}}},
	"hooks of the configuration": {func(t *testing.T, dir, program string) {
		put(t, dir, "hooks/post-index-change", "#!/bin/sh\nexec "+program+"\n", 0o755)
		plain(t, dir, "config", "core.hooksPath", "hooks")
	}, [][]string{{"add", "-A"}}},
	"clean filter": {func(t *testing.T, dir, program string) {
		put(t, dir, ".gitattributes", "* filter=x\n", 0o644)
		plain(t, dir, "config", "filter.x.clean", program)
	}, [][]string{{"add", "-A"}}},
	"filter process": {func(t *testing.T, dir, program string) {
		put(t, dir, ".gitattributes", "* filter=x\n", 0o644)
		plain(t, dir, "config", "filter.x.process", program)
	}, [][]string{{"add", "-A"}}},
	"textconv": {func(t *testing.T, dir, program string) {
		put(t, dir, ".gitattributes", "* diff=x\n", 0o644)
		plain(t, dir, "config", "diff.x.textconv", program)
	}, [][]string{{"diff"}}},
	"external diff": {func(t *testing.T, dir, program string) {
		plain(t, dir, "config", "diff.external", program)
	}, [][]string{{"diff"}}},
	"external diff driver": {func(t *testing.T, dir, program string) {
		put(t, dir, ".gitattributes", "* diff=x\n", 0o644)
		plain(t, dir, "config", "diff.x.command", program)
	}, [][]string{{"diff"}}},
	"included configuration": {func(t *testing.T, dir, program string) {
		put(t, dir, "included", "[core]\n\tfsmonitor = "+program+"\n", 0o644)
		plain(t, dir, "config", "include.path", "../included")
	}, [][]string{{"status"}}},
	"configuration of a nested repository": {func(t *testing.T, dir, program string) {
		put(t, dir, "nested/file", "nested\n", 0o644)
		plain(t, filepath.Join(dir, "nested"), "init", "-q")
		plain(t, filepath.Join(dir, "nested"), "add", "-A")
		plain(t, filepath.Join(dir, "nested"), "commit", "-qm", "nested")
		plain(t, dir, "add", "nested")
		plain(t, filepath.Join(dir, "nested"), "config", "core.fsmonitor", program)
	}, [][]string{{"status"}}},
	"promisor remote": {func(t *testing.T, dir, program string) {
		plain(t, dir, "config", "core.repositoryFormatVersion", "1")
		plain(t, dir, "config", "extensions.partialClone", "origin")
		plain(t, dir, "config", "remote.origin.url", "ssh://host/path")
		plain(t, dir, "config", "remote.origin.promisor", "true")
		plain(t, dir, "config", "core.sshCommand", program)
	}, [][]string{{"cat-file", "-p", strings.Repeat("1", 40)}}},
}

// planted returns a repository whose file changed after the commit, with a plant, and the file that the plant makes.
func planted(t *testing.T, plant func(t *testing.T, dir, program string)) (dir, marker string) {
	t.Helper()
	dir = t.TempDir()
	marker = filepath.Join(t.TempDir(), "marker")
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o755))
	plain(t, dir, "init", "-q")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755))
	put(t, dir, "file", "one\n", 0o644)
	plain(t, dir, "add", "-A")
	plain(t, dir, "commit", "-qm", "one")
	put(t, dir, "file", "changed\n", 0o644)
	plant(t, dir, program)
	require.NoFileExists(t, marker)
	return dir, marker
}

func TestFilesRunNothing(t *testing.T) {
	for name, test := range plants {
		t.Run(name, func(t *testing.T) {
			dir, marker := planted(t, test.plant)
			for _, args := range test.run {
				plain(t, dir, args...)
			}
			require.FileExists(t, marker, "plain git must run the plant")

			dir, marker = planted(t, test.plant)
			o, err := git.Find(t.Context(), dir)
			require.NoError(t, err)
			r, err := git.Init(t.Context(), filepath.Join(t.TempDir(), "git"), dir, git.Options{Objects: []string{o.Objects}})
			require.NoError(t, err)
			_, err = o.Status(t.Context(), r)
			require.NoError(t, err)
			for _, question := range [][]string{
				{"check-attr", "--all", "file"}, {"config", "--list"}, {"ls-files", "--stage"}, {"ls-files", "--others"},
				{"for-each-ref"}, {"ls-tree", "HEAD"}, {"rev-parse", "HEAD"},
			} {
				_, err = o.Ask(t.Context(), nil, question...)
				require.NoError(t, err)
			}
			_, err = o.Ask(t.Context(), nil, "ls-tree", strings.Repeat("1", 40))
			require.Error(t, err)
			_, err = r.Run(t.Context(), nil, "read-tree", o.Commit)
			require.NoError(t, err)
			after, err := Snapshot(t.Context(), r)
			require.NoError(t, err)
			c, err := Diff(t.Context(), r, o.Commit+"^{tree}", after)
			require.NoError(t, err)
			require.Contains(t, c.Patch, "-one\n+changed\n")
			_, err = r.Run(t.Context(), nil, "checkout-index", "-a", "-f", "--prefix="+t.TempDir()+"/")
			require.NoError(t, err)
			require.NoError(t, Apply(t.Context(), repositoryAt(t, dir), c))
			require.NoFileExists(t, marker)
		})
	}
}

// repositoryAt resets the file of a planted repository to the commit.
func repositoryAt(t *testing.T, dir string) string {
	t.Helper()
	for _, name := range []string{".gitattributes", "hooks", "included", "nested"} {
		if name != "nested" {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		} else {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, name, "file")))
		}
	}
	put(t, dir, "file", "one\n", 0o644)
	return dir
}

func snapshot(t *testing.T, r git.Repo) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tree, err := Snapshot(ctx, r)
	require.NoError(t, err)
	return tree
}

func listed(t *testing.T, r git.Repo, tree string) string {
	t.Helper()
	out, err := r.Run(t.Context(), nil, "ls-tree", "-r", "-z", "--format=%(objectmode) %(path)", tree)
	require.NoError(t, err)
	return strings.ReplaceAll(string(out), "\x00", "\n")
}

func TestSnapshotOfNestedRepositories(t *testing.T) {
	r := newRepo(t)
	put(t, r.Files, "a/b/file", "x\n", 0o644)
	put(t, r.Files, "a/top", "x\n", 0o644)
	for _, dir := range []string{"", "a", "a/b", "empty"} {
		require.NoError(t, os.MkdirAll(filepath.Join(r.Files, dir), 0o755))
		plain(t, filepath.Join(r.Files, dir), "init", "-q")
	}
	put(t, r.Files, "worktree/.git", "gitdir: /nowhere\n", 0o644)
	put(t, r.Files, "worktree/file", "x\n", 0o755)
	require.NoError(t, os.Mkdir(filepath.Join(r.Files, "linked"), 0o755))
	require.NoError(t, os.Symlink("../a/.git", filepath.Join(r.Files, "linked", ".git")))
	put(t, r.Files, "linked/file", "x\n", 0o644)
	put(t, r.Files, "upper/.GIT/config", "x\n", 0o644)
	before := state(t, r.Files)
	require.Equal(t, "100644 a/b/file\n100644 a/top\n100644 linked/file\n100755 worktree/file\n", listed(t, r, snapshot(t, r)))
	require.Equal(t, before, state(t, r.Files))
	entries, err := filepath.Glob(filepath.Join(r.Dir, "aside-*"))
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestSnapshotWithoutUsableGitDirectory(t *testing.T) {
	r := newRepo(t)
	put(t, r.Files, "file", "x\n", 0o644)
	tree := snapshot(t, r)
	top := filepath.Join(r.Files, ".git")
	for _, target := range []string{"/nowhere", r.Dir, t.TempDir()} {
		require.NoError(t, os.Symlink(target, top))
		require.Equal(t, tree, snapshot(t, r))
		require.NoError(t, os.Remove(top))
	}
	require.NoError(t, unix.Mkfifo(top, 0o600))
	require.Equal(t, tree, snapshot(t, r))
}

func TestSnapshotOfSubmodule(t *testing.T) {
	r := newRepo(t)
	put(t, r.Files, "sub/file", "x\n", 0o644)
	_, err := r.Run(t.Context(), nil, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
	require.NoError(t, err)
	require.Equal(t, "100644 sub/file\n", listed(t, r, snapshot(t, r)))
}

// Git blocks when it opens a FIFO, for example to read attributes for a difference.
func TestSnapshotOfSpecialFiles(t *testing.T) {
	r := newRepo(t)
	put(t, r.Files, "was", "x\n", 0o644)
	put(t, r.Files, "stays", "x\n", 0o644)
	first := snapshot(t, r)
	require.NoError(t, os.Remove(filepath.Join(r.Files, "was")))
	for _, name := range []string{"was", "fifo", ".gitignore", ".gitattributes", ".gitmodules"} {
		require.NoError(t, unix.Mkfifo(filepath.Join(r.Files, name), 0o600))
	}
	t.Chdir(r.Files)
	socket, err := net.Listen("unix", "socket")
	require.NoError(t, err)
	defer socket.Close()
	before := state(t, r.Files)
	after := snapshot(t, r)
	require.Equal(t, "100644 stays\n", listed(t, r, after))
	require.Equal(t, before, state(t, r.Files))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := Diff(ctx, r, first, after)
	require.NoError(t, err)
	require.Len(t, c.Files, 1)
}

func TestSnapshotOfMissingDirectory(t *testing.T) {
	r := newRepo(t)
	require.NoError(t, os.Remove(r.Files))
	_, err := Snapshot(t.Context(), r)
	require.ErrorContains(t, err, "workspace: the copy is missing: ")
	require.NoError(t, os.Symlink(t.TempDir(), r.Files))
	_, err = Snapshot(t.Context(), r)
	require.EqualError(t, err, "workspace: the copy "+r.Files+" was replaced by a symbolic link")
}

func TestSnapshotConvertsNothing(t *testing.T) {
	r := newRepo(t)
	files := world{
		".gitattributes": {data: "* text eol=crlf ident\nlfs filter=lfs diff=lfs\nutf16 working-tree-encoding=UTF-16\n[attr]text filter=x\n"},
		"crlf":           {data: "a\r\nb\nc\r\n"}, "ident": {data: "$Id: x$\n"}, "lfs": {data: "content\n"}, "utf16": {data: "text\n"},
	}
	files.write(t, r.Files)
	tree := snapshot(t, r)
	for name, n := range files {
		out, err := r.Run(t.Context(), nil, "cat-file", "blob", tree+":"+name)
		require.NoError(t, err)
		require.Equal(t, n.data, string(out))
	}
	to := t.TempDir()
	_, err := r.Run(t.Context(), nil, "checkout-index", "-a", "--prefix="+to+"/")
	require.NoError(t, err)
	require.Equal(t, files, read(t, to))
}
