//go:build unix

package slots

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

var (
	files  = flag.Int("files", 500, "files of TestSpeed, whose limits apply from 50,000 on")
	rounds = flag.Int("rounds", 1, "how often TestSpeed measures")
)

// usage is the time of a measurement, and the time of all processors in it.
type usage struct{ wall, cpu time.Duration }

func cpuTime(t *testing.T) (total time.Duration) {
	t.Helper()
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		require.NoError(t, unix.Getrusage(who, &u))
		total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return total
}

// TestSpeed compares copies with "git worktree add" of the same repository, side by side.
func TestSpeed(t *testing.T) {
	count := *files
	m := newMachine(t)
	m.write(".gitignore", "/node_modules/\n")
	m.fill(".", count)
	m.commit()
	m.git(m.top, "repack", "-adq")
	m.status(m.top)
	m.fill("node_modules", count)
	times := map[string][]usage{}
	measure := func(name string, do func()) {
		begin, used := time.Now(), cpuTime(t)
		do()
		times[name] = append(times[name], usage{time.Since(begin), cpuTime(t) - used})
	}
	for round := range *rounds {
		tree := filepath.Join(m.home, fmt.Sprint("tree", round))
		measure("git worktree add", func() { m.git(m.top, "worktree", "add", "-q", "--detach", tree) })
		m.git(m.top, "worktree", "remove", "--force", tree)
		for _, form := range []struct {
			name string
			src  Source
		}{
			{"", Source{}}, {", shared", Source{Share: true}}, {", carried", Source{Share: true, Carry: []string{"node_modules"}}},
		} {
			var s *Slot
			measure("first copy"+form.name, func() { s = m.open(form.src) })
			measure("close"+form.name, func() { require.NoError(t, s.Close()) })
			measure("reused slot"+form.name, func() { s = m.open(form.src) })
			require.NoError(t, s.Close())
			require.NoError(t, os.RemoveAll(m.root))
		}
	}
	median := func(name string) usage {
		slices.SortFunc(times[name], func(a, b usage) int { return cmp.Compare(a.wall, b.wall) })
		return times[name][len(times[name])/2]
	}
	base := median("git worktree add")
	t.Logf("%d files, %d processors", count, runtime.GOMAXPROCS(0))
	for _, name := range slices.Sorted(maps.Keys(times)) {
		m := median(name)
		t.Logf("%-24s %8s %5.2f, processors %8s %5.2f", name, m.wall.Round(time.Millisecond), float64(m.wall)/float64(base.wall),
			m.cpu.Round(time.Millisecond), float64(m.cpu)/float64(base.cpu))
	}
	if count >= 50_000 {
		require.LessOrEqual(t, median("first copy").wall, 2*base.wall)
		require.LessOrEqual(t, median("reused slot").wall, base.wall/2)
	}
}
