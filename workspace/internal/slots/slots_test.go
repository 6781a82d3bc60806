package slots

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var long = flag.Bool("long", false, "run many cases of random tests")

// machine is a home directory with a repository, and the root of the slots.
type machine struct {
	t               testing.TB
	home, top, root string
}

func newMachine(t testing.TB) *machine {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	m := &machine{t, filepath.Join(base, "home"), filepath.Join(base, "home/src/project"), filepath.Join(base, "home/.cache/work")}
	require.NoError(t, os.MkdirAll(m.top, 0o755))
	if t, ok := t.(*testing.T); ok {
		t.Setenv("HOME", m.home)
		t.Setenv("XDG_CONFIG_HOME", "")
		t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	}
	m.write("../../.gitconfig", "[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n")
	return m
}

func (m *machine) at(name string) string { return filepath.Join(m.top, name) }

func (m *machine) write(name, data string) {
	m.t.Helper()
	require.NoError(m.t, os.MkdirAll(filepath.Dir(m.at(name)), 0o755))
	require.NoError(m.t, os.WriteFile(m.at(name), []byte(data), 0o644))
}

// git runs git in a directory as a user does.
func (m *machine) git(dir string, args ...string) string {
	m.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+m.home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	require.NoError(m.t, err, "git %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// commit makes the directory a repository if it is none, and commits all files.
func (m *machine) commit() {
	m.t.Helper()
	if !exists(m.top, ".git") {
		m.git(m.top, "init", "-q")
		m.git(m.top, "config", "gc.auto", "0")
	}
	m.git(m.top, "add", "-A")
	m.git(m.top, "commit", "-q", "-m", "a commit")
}

func (m *machine) open(src Source) *Slot {
	m.t.Helper()
	if src.Dir == "" {
		src.Dir = m.top
	}
	s, err := Open(m.t.Context(), m.root, src)
	require.NoError(m.t, err)
	return s
}

// status returns the status that git reports in a directory.
func (m *machine) status(dir string) string {
	m.t.Helper()
	return m.git(dir, "status", "--porcelain=v2", "--branch", "--untracked-files=all", "-z")
}

// same requires that the copy has the files and the status of the original.
func (m *machine) same(s *Slot) {
	m.t.Helper()
	require.Equal(m.t, m.tree(m.top), m.tree(s.Top))
	if exists(m.top, ".git") {
		require.Equal(m.t, m.status(m.top), m.status(s.Top))
		require.Equal(m.t, m.git(m.top, "for-each-ref"), m.git(s.Top, "for-each-ref"))
	}
}

// tree returns the files of a directory without ".git": their modes and contents, by their paths.
func (m *machine) tree(top string) map[string]string {
	m.t.Helper()
	files := map[string]string{}
	require.NoError(m.t, filepath.WalkDir(top, func(path string, entry os.DirEntry, err error) error {
		require.NoError(m.t, err)
		if entry.Name() == ".git" {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(top, path)
		require.NoError(m.t, err)
		info, err := os.Lstat(path)
		require.NoError(m.t, err)
		switch {
		case info.IsDir():
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			require.NoError(m.t, err)
			files[rel] = "-> " + target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			require.NoError(m.t, err)
			files[rel] = info.Mode().String() + " " + string(data)
		default:
			files[rel] = info.Mode().String()
		}
		return nil
	}))
	return files
}

// fill creates files of 1 to 4 KiB, 50 in each directory.
func (m *machine) fill(dir string, count int) {
	m.t.Helper()
	require.NoError(m.t, parallel(m.t.Context(), count, func(i int) error {
		dir := filepath.Join(m.at(dir), fmt.Sprintf("part%02d/dir%03d", i/50%20, i/50))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		line := fmt.Sprintf("line %d of a file that is not like the others\n", i*7919)
		text := strings.Repeat(line, (1024+i*131%3072)/len(line)+1)
		return os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.txt", i)), []byte(text), 0o644)
	}))
}

func TestOpenRepository(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	m.write("sub/b", "two\n")
	m.commit()
	m.git(m.top, "tag", "v1")
	m.git(m.top, "branch", "other")
	m.git(m.top, "remote", "add", "origin", "https://example.com/a.git")
	m.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	for _, share := range []bool{false, true} {
		s := m.open(Source{Share: share})
		m.same(s)
		require.Equal(t, strings.TrimSpace(m.git(m.top, "rev-parse", "HEAD")), s.Commit)
		require.Equal(t, strings.TrimSpace(m.git(m.top, "rev-parse", "HEAD^{tree}")), s.Base)
		require.Equal(t, "project", filepath.Base(s.Top))
		require.Equal(t, s.Top, s.Dir)
		require.Empty(t, s.Warnings)
		require.Empty(t, m.git(s.Top, "remote"))
		require.NoDirExists(t, filepath.Join(s.Top, ".git/hooks"))
		require.Equal(t, share, exists(s.Top, ".git/objects/info/alternates"))
		m.git(s.Top, "fsck", "--strict")
		m.git(s.Top, "commit", "-q", "--allow-empty", "-m", "of an agent")
		require.NoError(t, s.Verify(t.Context()))
		require.NoError(t, s.Close())
	}
	require.Len(t, strings.Fields(m.git(m.top, "rev-list", "--all")), 1)
}
