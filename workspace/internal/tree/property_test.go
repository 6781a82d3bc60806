package tree

import (
	"context"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/workspace/internal/git"
)

// batch is how many cases share the processes of two snapshots. The long form has 10 000 cases: -rapid.checks=500.
const batch = 20

func fewChecks(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the names need a file system that accepts any bytes")
	}
	few()
}

// few is called once, because setting a flag makes it look as if the user had set it.
var few = sync.OnceFunc(func() {
	_ = flag.Set("rapid.nofailfile", "true") // the seed in the message is enough
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	if !set {
		_ = flag.Set("rapid.checks", "5")
	}
})

// pair is a directory before and after the work of an agent.
type pair struct{ base, after world }

func pairs(t *rapid.T) []pair {
	var list []pair
	for range batch {
		base := worlds.Draw(t, "base")
		list = append(list, pair{base: base, after: edited(t, base, 6)})
	}
	return list
}

// trees records each world in its own directory and returns the names of the trees.
func trees(t require.TestingT, r git.Repo, list []world) []string {
	entries, err := os.ReadDir(r.Files)
	require.NoError(t, err)
	for _, entry := range entries {
		require.NoError(t, os.RemoveAll(filepath.Join(r.Files, entry.Name())))
	}
	for i, w := range list {
		w.write(t, filepath.Join(r.Files, strconv.Itoa(i)))
	}
	top, err := Snapshot(context.Background(), r)
	require.NoError(t, err)
	out, err := r.Run(context.Background(), nil, "ls-tree", "-z", top)
	require.NoError(t, err)
	found := make([]string, len(list))
	for i := range found {
		found[i] = "4b825dc642cb6eb9a060e54bf8d69288fbee4904" // the empty tree
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if fields, name, ok := strings.Cut(entry, "\t"); ok {
			i, err := strconv.Atoi(name)
			require.NoError(t, err)
			found[i] = strings.Fields(fields)[2]
		}
	}
	return found
}

// changes returns the changes of each pair.
func changes(t require.TestingT, r git.Repo, list []pair) []*call.Changes {
	var bases, afters []world
	for _, p := range list {
		bases, afters = append(bases, p.base), append(afters, p.after)
	}
	from, to := trees(t, r, bases), trees(t, r, afters)
	var all []*call.Changes
	for i := range list {
		c, err := Diff(context.Background(), r, from[i], to[i])
		require.NoError(t, err)
		all = append(all, c)
	}
	return all
}

// propertyDir returns an empty directory for one case.
func propertyDir(t require.TestingT, top string, i int) string {
	dir := filepath.Join(top, strconv.Itoa(i))
	require.NoError(t, os.RemoveAll(dir))
	return dir
}

// Applied to the base, the changes result in the tree that the agent left.
func TestPropertyApply(t *testing.T) {
	fewChecks(t)
	r, top := newRepo(t), t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		list := pairs(t)
		for i, c := range changes(t, r, list) {
			dir := propertyDir(t, top, i)
			list[i].base.write(t, dir)
			require.NoError(t, Apply(context.Background(), dir, c), "case %d\nbase:\n%safter:\n%s%s", i, list[i].base, list[i].after, c.Patch)
			require.Equal(t, list[i].after, read(t, dir), "case %d\n%s", i, c.Patch)
			checkDescription(t, list[i], c)
		}
	})
}

// checkDescription compares Changes.Files with the worlds.
func checkDescription(t require.TestingT, p pair, c *call.Changes) {
	touched := map[string]bool{}
	for _, f := range c.Files {
		touched[f.Path], touched[f.From] = true, true
		require.Equal(t, f.From != "", f.Kind == call.ChangeRenamed)
	}
	for _, w := range []world{p.base, p.after} {
		for name := range w {
			before, was := p.base[name]
			now, is := p.after[name]
			require.Equal(t, was != is || before != now, touched[pathText(name)], "%q", name)
		}
	}
}

// In a directory that was changed too, Apply changes nothing or keeps the other changes. A failure at any step changes
// nothing either.
func TestPropertyConflict(t *testing.T) {
	fewChecks(t)
	r, top := newRepo(t), t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		list := pairs(t)
		for i, c := range changes(t, r, list) {
			dir := propertyDir(t, top, i)
			mine := edited(t, list[i].base, 3)
			mine.write(t, dir)
			before := state(t, dir)
			failAt := rapid.IntRange(0, 30).Draw(t, "fail at step")
			fault := errors.New("no space")
			err := apply(context.Background(), dir, c, func(string, string) error {
				if failAt--; failAt == 0 {
					return fault
				}
				return nil
			})
			refused := (*ConflictError)(nil)
			switch {
			case errors.As(err, &refused) || errors.Is(err, fault):
				require.Equal(t, before, state(t, dir), "%s", c.Patch)
			case err != nil:
				require.NoError(t, err, "%s", c.Patch)
			default:
				checkMerge(t, list[i], mine, read(t, dir))
			}
			if want, apart := merged(list[i], mine); apart && !errors.Is(err, fault) {
				require.NoError(t, err, "%s", c.Patch)
				require.Equal(t, want, read(t, dir), "%s", c.Patch)
			}
		}
	})
}

// checkMerge checks each file that only one side has changed.
func checkMerge(t require.TestingT, p pair, mine, got world) {
	for _, w := range []world{p.base, p.after, mine, got} {
		for name := range w {
			base, after, own := p.base.at(name), p.after.at(name), mine.at(name)
			switch result := got.at(name); base {
			case after:
				require.Equal(t, own, result, "%q", name)
			case own:
				// A renamed file has the other changes of its earlier path.
				if _, renamed := p.base[name]; renamed {
					require.Equal(t, after, result, "%q", name)
				}
			}
		}
	}
}

// merged returns the files with the changes of both sides, if no file and no directory was changed by both.
func merged(p pair, mine world) (result world, apart bool) {
	result = maps.Clone(p.after)
	theirs := map[string]bool{}
	for _, w := range []world{p.base, p.after} {
		for name := range w {
			if p.base.at(name) != p.after.at(name) {
				theirs[name] = true
			}
		}
	}
	for _, w := range []world{p.base, mine} {
		for name := range w {
			if p.base.at(name) == mine.at(name) {
				continue
			}
			for other := range theirs {
				if other == name || strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
					return nil, false
				}
			}
			delete(result, name)
			if n, ok := mine[name]; ok {
				result[name] = n
			}
		}
	}
	return result, true
}
