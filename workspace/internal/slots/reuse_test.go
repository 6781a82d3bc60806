package slots

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hostile changes a copy. r decides what is changed.
var hostile = []func(m *machine, s *Slot, r *rand.Rand) error{
	func(_ *machine, s *Slot, _ *rand.Rand) error { return forge(filepath.Join(s.Top, "a"), "ONE\n") },
	func(_ *machine, s *Slot, _ *rand.Rand) error {
		return forge(filepath.Join(s.Top, "sub/deep/c"), "THREE\n")
	},
	func(_ *machine, s *Slot, r *rand.Rand) error {
		return os.WriteFile(filepath.Join(s.Top, fmt.Sprint("junk", r.IntN(9))), []byte("junk"), 0)
	},
	func(_ *machine, s *Slot, _ *rand.Rand) error {
		return os.WriteFile(filepath.Join(s.Top, "ignored.log"), []byte("junk"), 0o600)
	},
	func(_ *machine, s *Slot, r *rand.Rand) error {
		dir := filepath.Join(s.Top, fmt.Sprint("nested", r.IntN(9)))
		return firstOf(os.MkdirAll(filepath.Join(dir, ".git/objects"), 0o700), os.Mkdir(filepath.Join(dir, ".git/refs"), 0o700),
			os.WriteFile(filepath.Join(dir, ".git/HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
			os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
	},
	func(_ *machine, s *Slot, _ *rand.Rand) error {
		dir := filepath.Join(s.Top, "closed/inner")
		return firstOf(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "x"), nil, 0o400),
			os.Chmod(dir, 0o500), os.Chmod(filepath.Dir(dir), 0))
	},
	func(_ *machine, s *Slot, _ *rand.Rand) error { return os.Chmod(filepath.Join(s.Top, "sub"), 0) },
	func(_ *machine, s *Slot, _ *rand.Rand) error { return os.Chmod(s.Top, 0o500) },
	func(_ *machine, s *Slot, _ *rand.Rand) error { return os.Chmod(filepath.Join(s.Top, "a"), 0o777) },
	func(_ *machine, s *Slot, _ *rand.Rand) error { return os.RemoveAll(s.Top) },
	func(m *machine, s *Slot, _ *rand.Rand) error {
		return firstOf(os.Rename(s.Top, s.Top+"-moved"), os.Symlink(m.top, s.Top))
	},
	func(_ *machine, s *Slot, _ *rand.Rand) error {
		return firstOf(os.RemoveAll(s.Top), os.WriteFile(s.Top, nil, 0o600))
	},
	func(m *machine, s *Slot, _ *rand.Rand) error {
		return os.Link(filepath.Join(s.Top, "a"), filepath.Join(m.home, fmt.Sprint("link", time.Now().UnixNano())))
	},
	func(m *machine, s *Slot, _ *rand.Rand) error { return relink(m.at("a"), filepath.Join(s.Top, "a")) },
	func(m *machine, s *Slot, _ *rand.Rand) error {
		return firstOf(os.RemoveAll(filepath.Join(s.Top, "sub")), os.Symlink(m.at("sub"), filepath.Join(s.Top, "sub")))
	},
	func(_ *machine, s *Slot, _ *rand.Rand) error { return os.RemoveAll(filepath.Join(s.Top, ".git")) },
	func(m *machine, s *Slot, _ *rand.Rand) error {
		return firstOf(os.RemoveAll(filepath.Join(s.Top, ".git")), os.Symlink(m.at(".git"), filepath.Join(s.Top, ".git")))
	},
	func(_ *machine, s *Slot, _ *rand.Rand) error {
		return filepath.WalkDir(filepath.Join(s.Top, ".git/objects"), func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			return forge(path, strings.Repeat("?", 40))
		})
	},
	func(m *machine, s *Slot, _ *rand.Rand) error {
		return symlink(m.at("a"), filepath.Join(s.Top, ".git/objects/info/alternates"))
	},
	func(m *machine, s *Slot, _ *rand.Rand) error {
		return symlink(m.at("sub"), filepath.Join(s.Top, ".git/objects/info"))
	},
	func(m *machine, s *Slot, _ *rand.Rand) error {
		return symlink(m.at("sub"), filepath.Join(s.Top, ".git/objects"))
	},
	func(m *machine, s *Slot, _ *rand.Rand) error {
		m.git(s.Top, "-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "of an agent")
		m.git(s.Top, "branch", "-f", "mine")
		return nil
	},
}

// linked reports whether a change of the copy would also change the original.
func (m *machine) linked(s *Slot) bool {
	for _, name := range []string{".git", "sub", "a"} {
		copied, err1 := os.Stat(filepath.Join(s.Top, name))
		original, err2 := os.Stat(m.at(name))
		if err1 == nil && err2 == nil && os.SameFile(copied, original) {
			return true
		}
	}
	return false
}

// forge changes a file so that its size and its time stay.
func forge(path, data string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	data = (data + strings.Repeat("?", int(info.Size())))[:info.Size()]
	return firstOf(os.Chmod(path, 0o600), os.WriteFile(path, []byte(data), 0), os.Chmod(path, info.Mode().Perm()),
		os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// relink replaces a file of the copy by a hard link to another one.
func relink(from, to string) error { return firstOf(os.Remove(to), os.Link(from, to)) }

// symlink replaces a file or directory of the copy by a symbolic link to another one.
func symlink(from, to string) error { return firstOf(os.RemoveAll(to), os.Symlink(from, to)) }

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A copy is the same as the original whatever earlier uses did to it. The changes of one use can prevent each other, so
// the errors of all but the first are ignored.
func TestOpenAfterHostileUse(t *testing.T) {
	seeds := 2*len(hostile) + 3
	if *long {
		seeds = 1000
	}
	m := newMachine(t)
	m.write(".gitignore", "*.log\n")
	m.write("a", "one\n")
	m.write("sub/deep/c", "three\n")
	m.commit()
	m.write("b", "untracked\n")
	original := m.tree(m.top)
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		share := seed%2 == 0
		s := m.open(Source{Share: share})
		if seed < 2*len(hostile) {
			require.NoError(t, hostile[seed/2](m, s, r), "seed %d", seed)
		} else {
			for n := 1 + r.IntN(5); n > 0 && !m.linked(s); n-- {
				_ = hostile[r.IntN(len(hostile)-1)](m, s, r)
			}
		}
		top := s.Top
		_ = s.Close()
		if r.IntN(2) == 0 {
			m.write("a", fmt.Sprint("one ", seed, "\n"))
			original = m.tree(m.top)
		}
		s = m.open(Source{Share: share == (seed < 2*len(hostile) || r.IntN(2) == 0)})
		require.Equal(t, top, s.Top, "the path stays the same")
		require.Equal(t, original, m.tree(m.top), "seed %d changed the original", seed)
		m.same(s)
		m.git(s.Top, "fsck")
		require.NoError(t, s.Close())
		_ = os.RemoveAll(s.Top + "-moved")
	}
}

// A reused slot keeps the files that did not change, so that programs which compare times do no work again.
func TestOpenKeepsUnchangedFiles(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	m.write("b", "two\n")
	m.commit()
	s := m.open(Source{})
	before, err := os.Stat(filepath.Join(s.Top, "a"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(s.Top, "b"), []byte("of an agent"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(s.Top, "secret"), []byte("of an agent"), 0o600))
	require.NoError(t, s.Close())
	require.NoFileExists(t, filepath.Join(s.Top, "secret"))
	require.NoFileExists(t, filepath.Join(s.Top, "b"))
	s = m.open(Source{})
	m.same(s)
	after, err := os.Stat(filepath.Join(s.Top, "a"))
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
	require.NoError(t, s.Close())
}

// The files of a damaged manifest are not trusted.
func TestOpenWithDamagedManifest(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	m.commit()
	s := m.open(Source{})
	path := s.locked.at(manifestName)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	for _, n := range []int{0, 5, len(magic), len(magic) + 3, len(data) / 2, len(data) - 1} {
		require.NoError(t, os.WriteFile(path, data[:n], 0o600))
		require.Empty(t, readManifest(path).entries)
		s := m.open(Source{})
		m.same(s)
		require.NoError(t, s.Close())
	}
}

func TestVerifyAfterPrune(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	m.commit()
	s := m.open(Source{Share: true})
	require.NoError(t, s.Verify(t.Context()))
	object := strings.TrimSpace(m.git(m.top, "rev-parse", "HEAD:a"))
	path := m.at(".git/objects/" + object[:2] + "/" + object[2:])
	require.NoError(t, os.Remove(path))
	require.ErrorContains(t, s.Verify(t.Context()), "were removed during the work")
	require.NoError(t, s.Close())
}

// A git that was killed leaves a lock, and a killed snapshot the files that it had moved aside.
func TestOpenAfterKilledGit(t *testing.T) {
	m := newMachine(t)
	m.write("a", "one\n")
	m.commit()
	s := m.open(Source{})
	dir := s.Repo.Dir
	require.NoError(t, s.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "index.lock"), nil, 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "aside-1/0"), 0o700))
	before, err := os.Stat(s.Top)
	require.NoError(t, err)
	s = m.open(Source{})
	m.same(s)
	require.NoDirExists(t, filepath.Join(dir, "aside-1"))
	require.NoFileExists(t, filepath.Join(dir, "index.lock"))
	after, err := os.Stat(s.Top)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "the copy was not made anew")
	require.NoError(t, s.Close())
}
