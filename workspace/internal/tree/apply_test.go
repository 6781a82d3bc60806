package tree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

// changesOf returns the changes between two worlds.
func changesOf(t *testing.T, base, after world) *call.Changes {
	t.Helper()
	return changes(t, newRepo(t), []pair{{base: base, after: after}})[0]
}

func text(lines ...string) node { return node{data: strings.Join(lines, "\n") + "\n"} }

var (
	ten = strings.Fields("1 2 3 4 5 6 7 8 9 10")
	all = world{
		"changed": text(ten...), "deleted": text("gone", "away"), "renamed": text("r", "s", "t", "u"), "mode": text("m"),
		"link": {data: "changed", link: true}, "binary": {data: "\x00old"}, "file": text("f"), "dir/file": text("d"), "same": text("s"),
	}
	allAfter = world{
		"changed": text("1", "2", "3", "4", "five", "6", "7", "8", "9", "10"), "new/deep/name": text("r", "s", "t", "u"),
		"mode": {data: "m\n", exec: true}, "link": {data: "same", link: true}, "binary": {data: "\x00new"},
		"file/file": text("now a directory"), "dir": text("now a file"), "same": text("s"), "added/a": text("a"),
	}
)

func skipWindows(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("modes and symbolic links")
	}
}

func TestApplyIsUndoneAtEachStep(t *testing.T) {
	skipWindows(t)
	c := changesOf(t, all, allAfter)
	steps, fault := 0, errors.New("no space")
	for fail := 1; ; fail++ {
		dir := t.TempDir()
		all.write(t, dir)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o700))
		before := state(t, dir)
		steps = 0
		err := apply(t.Context(), dir, c, func(string, string) error {
			if steps++; steps == fail {
				return fault
			}
			return nil
		})
		if err == nil {
			require.Equal(t, allAfter, read(t, dir))
			require.DirExists(t, filepath.Join(dir, "empty"))
			break
		}
		require.ErrorIs(t, err, fault)
		require.Equal(t, before, state(t, dir), "step %d", fail)
	}
	require.Greater(t, steps, 20)
}

func TestApplyNamesAllConflicts(t *testing.T) {
	skipWindows(t)
	c := changesOf(t, all, allAfter)
	mine := world{
		"changed": text("1", "2", "3", "4", "mine", "6", "7", "8", "9", "10"), "deleted": text("gone", "away", "c"),
		"renamed": {data: "elsewhere", link: true}, "link": {data: "other", link: true}, "binary": {data: "\x00mine"},
		"file": text("mine"), "dir/file": text("d"), "dir/mine": text("mine"), "added": text("a file"), "same": text("mine"),
	}
	dir := t.TempDir()
	mine.write(t, dir)
	before := state(t, dir)
	err := Apply(t.Context(), dir, c)
	refused := (*ConflictError)(nil)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, []Conflict{
		{"added/a", `is below the regular file "added"`}, {"binary", "has changed in the same places"},
		{"changed", "has changed in the same places"}, {"deleted", "has changed in the same places"},
		{"dir", `is a directory with "dir/mine"`}, {"file", "has changed in the same places"},
		{"link", "has changed in the same places"}, {"mode", "is missing"}, {"renamed", "is now a symbolic link"},
	}, refused.Conflicts)
	require.Equal(t, before, state(t, dir))
}

func TestApplyKeepsOtherChanges(t *testing.T) {
	skipWindows(t)
	c := changesOf(t, world{"a": text(ten...)}, world{"b": text("1", "2", "3", "4", "five", "6", "7", "8", "9", "10")})
	dir := t.TempDir()
	world{"a": text(append([]string{"top", "top"}, append(ten, "end")...)...)}.write(t, dir)
	require.NoError(t, os.Chmod(filepath.Join(dir, "a"), 0o640))
	require.NoError(t, Apply(t.Context(), dir, c))
	require.Equal(t, world{"b": text("top", "top", "1", "2", "3", "4", "five", "6", "7", "8", "9", "10", "end")}, read(t, dir))
	info, err := os.Stat(filepath.Join(dir, "b"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
}

// A hunk that fits at two other places is a conflict, and so are additions of both sides at the end.
func TestApplyRefusesAmbiguousPlaces(t *testing.T) {
	block := []string{"{", "one", "two", "three", "x", "one", "two", "three", "}"}
	changed := []string{"{", "one", "two", "three", "y", "one", "two", "three", "}"}
	for name, test := range map[string]struct{ base, after, mine node }{
		"two places": {text(block...), text(changed...), text(append(append([]string{"new"}, block...), block...)...)},
		"end":        {text("1", "2", "3"), text("1", "2", "3", "theirs"), text("1", "2", "3", "mine")},
		"beginning":  {text("1", "2", "3"), text("theirs", "1", "2", "3"), text("mine", "1", "2", "3")},
		"empty file": {node{}, text("theirs"), text("mine")},
		"no newline": {node{data: "a\nb"}, node{data: "a\nc"}, node{data: "a\nb\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := changesOf(t, world{"f": test.base}, world{"f": test.after})
			dir := t.TempDir()
			world{"f": test.mine}.write(t, dir)
			refused := (*ConflictError)(nil)
			require.ErrorAs(t, Apply(t.Context(), dir, c), &refused)
			require.Equal(t, world{"f": test.mine}, read(t, dir))
		})
	}
}

// Files that other processes change during the call stay as these processes left them.
func TestApplyDetectsConcurrentChanges(t *testing.T) {
	skipWindows(t)
	base, after := world{"a": text("1"), "d/x": text("x")}, world{"a": text("2"), "d": text("file"), "n/new": text("new")}
	c := changesOf(t, base, after)
	for name, test := range map[string]struct {
		kind, path string
		change     func(dir string) error
		file       string
	}{
		"content": {"move", "a", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "a"), []byte("mine\n"), 0o644)
		}, "a"},
		"replaced": {"move", "a", func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "a")), os.Symlink("x", filepath.Join(dir, "a")))
		}, "a"},
		"removed": {"move", "a", func(dir string) error { return os.Remove(filepath.Join(dir, "a")) }, "a"},
		"new file": {"place", "n/new", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "n", "new"), []byte("mine\n"), 0o644)
		}, "n/new"},
		"file in a directory": {"remove", "d", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "d", "mine"), []byte("mine\n"), 0o644)
		}, "d"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			base.write(t, dir)
			var mine map[string]string
			err := apply(t.Context(), dir, c, func(kind, path string) error {
				if kind != test.kind || path != test.path {
					return nil
				}
				err := test.change(dir)
				mine = state(t, dir)
				return err
			})
			refused := (*ConflictError)(nil)
			if name == "new file" { // the undo does not remove a directory that is not empty
				require.ErrorContains(t, err, `"n/new" changed during the call`)
			} else {
				require.ErrorAs(t, err, &refused)
				require.Equal(t, []Conflict{{test.file, "changed during the call"}}, refused.Conflicts)
			}
			require.NotEmpty(t, mine)
			for path, value := range state(t, dir) {
				if strings.Contains(value, "mine") || path == "a" {
					require.Contains(t, []string{mine[path], "-rw-r--r-- 1\n"}, value, "%q", path)
				}
			}
		})
	}
}

func TestApplyFollowsNoLink(t *testing.T) {
	skipWindows(t)
	c := changesOf(t, world{"d/a": text("1"), "d/gone": text("1")}, world{"d/a": text("2"), "d/new": text("new")})
	outside, dir := t.TempDir(), t.TempDir()
	world{"a": text("1"), "gone": text("1")}.write(t, outside)
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "d")))
	before := state(t, outside)
	refused := (*ConflictError)(nil)
	require.ErrorAs(t, Apply(t.Context(), dir, c), &refused)
	require.Len(t, refused.Conflicts, 3)
	require.Equal(t, before, state(t, outside))
	require.Equal(t, `is below the symbolic link "d"`, refused.Conflicts[0].Reason)
}

func TestApplyCanceled(t *testing.T) {
	c := changesOf(t, world{"a": text("1")}, world{"a": text("2")})
	dir := t.TempDir()
	world{"a": text("1")}.write(t, dir)
	before := state(t, dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	err := apply(ctx, dir, c, func(kind, _ string) error {
		if kind == "move" {
			cancel(errors.New("stopped"))
		}
		return nil
	})
	require.ErrorContains(t, err, "stopped")
	require.Equal(t, before, state(t, dir))
}
