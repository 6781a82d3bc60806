package slots

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/workspace/internal/tree"
)

// origins change a repository with one commit. Its copy must have the same files and the same status.
var origins = []struct {
	name   string
	change func(m *machine)
}{
	{"changed, untracked and deleted files", func(m *machine) {
		m.write("a", "changed\n")
		m.write("new/file", "new\n")
		require.NoError(m.t, os.Remove(m.at("sub/b")))
	}},
	{"staged changes", func(m *machine) {
		m.write("a", "staged\n")
		m.write("added", "added\n")
		m.git(m.top, "add", "-A")
		m.git(m.top, "rm", "-q", "--cached", "sub/b")
		m.write("a", "changed after that\n")
	}},
	{"file that is intended to be added", func(m *machine) {
		m.write("later", "later\n")
		m.git(m.top, "add", "-N", "later")
	}},
	{"file that is assumed to be unchanged", func(m *machine) {
		m.git(m.top, "update-index", "--assume-unchanged", "a")
		m.write("a", "changed\n")
	}},
	{"modes, names and symbolic links", func(m *machine) {
		require.NoError(m.t, os.Chmod(m.at("a"), 0o755))
		require.NoError(m.t, os.Rename(m.at("sub/b"), m.at("sub/B")))
		m.write("line\nbreak \"quoted\"\t\\", "x")
		m.write("-option", "x")
		m.write(" space ", "x")
		m.write("bytes\xff", "x")
		require.NoError(m.t, os.Symlink("a", m.at("link")))
		require.NoError(m.t, os.Symlink("missing", m.at("sub/broken")))
	}},
	{"file that became a directory", func(m *machine) {
		require.NoError(m.t, os.Remove(m.at("a")))
		m.write("a/b/c", "x")
	}},
	{"directory that became a file", func(m *machine) {
		require.NoError(m.t, os.RemoveAll(m.at("sub")))
		m.write("sub", "x")
	}},
	{"directory that became a symbolic link", func(m *machine) {
		m.write("../beside/b", "outside")
		require.NoError(m.t, os.RemoveAll(m.at("sub")))
		require.NoError(m.t, os.Symlink("../beside", m.at("sub")))
	}},
	{"detached HEAD", func(m *machine) { m.git(m.top, "checkout", "-q", "--detach") }},
	{"conflict", func(m *machine) {
		m.git(m.top, "checkout", "-q", "-b", "other")
		m.write("a", "theirs\n")
		m.commit()
		m.git(m.top, "checkout", "-q", "main")
		m.write("a", "ours\n")
		m.commit()
		m.git(m.top, "-c", "core.editor=true", "merge", "-q", "--no-commit", "-s", "ours", "other")
		m.git(m.top, "read-tree", "-m", "HEAD~1", "HEAD", "other")
	}},
	{"sparse checkout", func(m *machine) { m.git(m.top, "sparse-checkout", "set", "--no-cone", "/a") }},
	{"sparse index", func(m *machine) { m.git(m.top, "sparse-checkout", "set", "--cone", "--sparse-index", "other") }},
	{"line endings", func(m *machine) {
		m.write(".gitattributes", "*.txt text eol=crlf\n*.id ident\n*.utf text working-tree-encoding=UTF-16LE\n")
		m.write("dos.txt", "one\r\ntwo\r\n")
		m.write("x.id", "$Id$\n")
		m.write("y.utf", "a\x00\n\x00")
		m.commit()
		m.git(m.top, "rm", "-q", "--cached", "-r", ".")
		m.git(m.top, "reset", "-q", "--hard")
	}},
	{"filter", func(m *machine) {
		m.git(m.top, "config", "filter.large.clean", "tr a-z A-Z")
		m.git(m.top, "config", "filter.large.smudge", "tr A-Z a-z")
		m.git(m.top, "config", "filter.large.required", "true")
		m.write(".gitattributes", "*.bin filter=large\n")
		m.write("data.bin", "lower case\n")
		// The git of the copy has no filter. It compares the content of a file that is as new as the index.
		before := time.Now().Add(-time.Hour)
		require.NoError(m.t, os.Chtimes(m.at("data.bin"), before, before))
		m.commit()
	}},
	{"packed objects that another repository lends", func(m *machine) {
		other := filepath.Join(m.home, "src/other")
		require.NoError(m.t, os.Rename(m.top, other))
		m.git(m.home, "clone", "-q", "--shared", other, m.top)
		m.git(m.top, "remote", "remove", "origin")
		m.write("a", "changed\n")
	}},
	{"object names of SHA-256", func(m *machine) {
		require.NoError(m.t, os.RemoveAll(m.at(".git")))
		m.git(m.top, "init", "-q", "--object-format=sha256")
		m.commit()
		m.write("a", "changed\n")
		m.write("new", "new\n")
	}},
}

func TestOpenHasStatusOfOriginal(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems have other file names")
	}
	for _, test := range origins {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t)
			m.write("a", "one\n")
			m.write("sub/b", "two\n")
			m.commit()
			s := m.open(Source{})
			require.NoError(t, s.Close())
			test.change(m)
			for _, share := range []bool{false, true} {
				s := m.open(Source{Share: share})
				m.same(s)
				out, err := s.Repo.Run(t.Context(), nil, "diff-files", "--name-only")
				require.NoError(t, err)
				require.Empty(t, string(out), "the base describes the copied files")
				require.NoError(t, s.Verify(t.Context()))
				require.NoError(t, s.Close())
			}
		})
	}
}

func TestOpenWithoutCommit(t *testing.T) {
	m := newMachine(t)
	m.git(m.top, "init", "-q")
	m.write("a", "one\n")
	m.write("b", "two\n")
	m.git(m.top, "add", "a")
	s := m.open(Source{})
	require.Equal(t, m.tree(m.top), m.tree(s.Top))
	require.Equal(t, m.status(m.top), m.status(s.Top))
	require.Empty(t, s.Commit)
	m.git(s.Top, "commit", "-q", "-m", "of an agent")
	require.NoError(t, s.Close())
}

func TestOpenWorktreeAndSubdirectory(t *testing.T) {
	m := newMachine(t)
	m.write("sub/b", "two\n")
	m.commit()
	first, second := filepath.Join(m.home, "first"), filepath.Join(m.home, "second")
	m.git(m.top, "worktree", "add", "-q", "-b", "first", first)
	m.git(first, "worktree", "add", "-q", "-b", "second", second)
	require.NoError(t, os.WriteFile(filepath.Join(second, "sub/b"), []byte("changed\n"), 0o644))
	m.top = second
	s := m.open(Source{Dir: filepath.Join(second, "sub")})
	m.same(s)
	require.Equal(t, filepath.Join(s.Top, "sub"), s.Dir)
	require.Equal(t, second, s.Original)
	require.NoError(t, s.Close())
}

func TestOpenShallowRepository(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	m.commit()
	m.write("a", "two\n")
	m.commit()
	shallow := filepath.Join(m.home, "shallow")
	m.git(m.home, "clone", "-q", "--depth=1", "file://"+m.top, shallow)
	s := m.open(Source{Dir: shallow})
	require.Equal(t, m.git(shallow, "log", "--format=%H"), m.git(s.Top, "log", "--format=%H"))
	require.NoError(t, s.Close())
}

func TestOpenPartialClone(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	m.write("sub/b", "two\n")
	m.commit()
	m.git(m.top, "config", "uploadpack.allowFilter", "true")
	partial := filepath.Join(m.home, "partial")
	m.git(m.home, "clone", "-q", "--filter=blob:none", "--sparse", "file://"+m.top, partial)
	require.NoDirExists(t, filepath.Join(partial, "sub"))
	s := m.open(Source{Dir: partial, Share: true})
	require.Equal(t, m.tree(partial), m.tree(s.Top))
	require.Len(t, s.Warnings, 1)
	require.Contains(t, s.Warnings[0], "partial clone")
	require.NoError(t, s.Verify(t.Context()), "the missing objects were missing before")
	require.NoError(t, s.Close())
}

func TestOpenTree(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	m.write("sub/.gitignore", "*.log\n")
	m.write("sub/x.log", "log\n")
	require.NoError(t, os.Chmod(m.at("a"), 0o555))
	require.NoError(t, os.Mkdir(m.at("empty"), 0o755))
	require.NoError(t, os.Symlink("a", m.at("link")))
	for range 2 {
		s := m.open(Source{})
		m.same(s)
		require.DirExists(t, filepath.Join(s.Top, "empty"))
		out, err := s.Repo.Run(t.Context(), nil, "ls-tree", "-r", "--name-only", s.Base)
		require.NoError(t, err)
		require.Equal(t, "a\nlink\nsub/.gitignore\nsub/x.log\n", string(out))
		require.NoError(t, s.Verify(t.Context()))
		require.NoError(t, s.Close())
	}
}

func TestOpenCarries(t *testing.T) {
	m := newMachine(t)
	m.write(".gitignore", "node_modules/\n*.o\n")
	m.write("a", "one\n")
	m.write("vendor/tracked", "tracked\n")
	m.commit()
	m.write("vendor/untracked", "untracked\n")
	m.write("node_modules/p/index.js", strings.Repeat("x", cloneSize))
	m.write("node_modules/.bin/tool", "x")
	m.write("left.o", "not carried")
	require.NoError(t, os.Mkdir(m.at("node_modules/empty"), 0o755))
	src := Source{Carry: []string{"node_modules", "vendor", "node_modules/p"}}
	for range 2 {
		s := m.open(src)
		want := m.tree(m.top)
		delete(want, "left.o")
		require.Equal(t, want, m.tree(s.Top))
		require.DirExists(t, filepath.Join(s.Top, "node_modules/empty"))
		out, err := s.Repo.Run(t.Context(), nil, "ls-tree", "-r", "--name-only", s.Base)
		require.NoError(t, err)
		require.Equal(t, ".gitignore\na\nvendor/tracked\n", string(out))
		require.Empty(t, m.git(s.Top, "status", "--porcelain"))
		for _, path := range []string{"node_modules/p/index.js", "vendor/tracked", "a"} {
			original, err := os.Stat(m.at(path))
			require.NoError(t, err)
			copied, err := os.Stat(filepath.Join(s.Top, path))
			require.NoError(t, err)
			require.False(t, os.SameFile(original, copied), path)
			require.Equal(t, original.ModTime(), copied.ModTime(), path)
			require.NoError(t, os.WriteFile(filepath.Join(s.Top, path), []byte("of an agent"), 0o600))
		}
		require.NoError(t, os.WriteFile(filepath.Join(s.Top, "vendor/new"), nil, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(s.Top, ".gitignore"), []byte("!node_modules/\n"), 0o600))
		require.NoError(t, os.Chmod(filepath.Join(s.Top, "node_modules"), 0o500))
		after, err := tree.Snapshot(t.Context(), s.Repo)
		require.NoError(t, err)
		out, err = s.Repo.Run(t.Context(), nil, "diff-tree", "-r", "--name-only", s.Base, after)
		require.NoError(t, err)
		require.Equal(t, ".gitignore\na\nvendor/tracked\n", string(out), "the carried files are no part of the difference")
		require.FileExists(t, filepath.Join(s.Top, "node_modules/p/index.js"))
		require.NoError(t, s.Close())
	}
}
