package slots

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var long = flag.Bool("long", false, "run the long form of the tests: 50,000 files, 1,000 random cases")

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

// TestSpeed compares copies with "git worktree add" of the same repository, side by side. The limits apply to the long
// form only.
func TestSpeed(t *testing.T) {
	count, rounds := 500, 1
	if *long {
		count, rounds = 50_000, 3
	}
	m := newMachine(t)
	m.write(".gitignore", "/node_modules/\n")
	m.fill(".", count)
	m.commit()
	m.git(m.top, "repack", "-adq")
	m.status(m.top)
	m.fill("node_modules", count)
	times := map[string][]time.Duration{}
	measure := func(name string, do func()) {
		begin := time.Now()
		do()
		times[name] = append(times[name], time.Since(begin))
	}
	for round := range rounds {
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
	median := func(name string) time.Duration {
		slices.Sort(times[name])
		return times[name][len(times[name])/2]
	}
	base := median("git worktree add")
	t.Logf("%d files, %d processors", count, runtime.GOMAXPROCS(0))
	for name := range times {
		t.Logf("%-24s %8s %5.2f", name, median(name).Round(time.Millisecond), float64(median(name))/float64(base))
	}
	if *long {
		require.LessOrEqual(t, median("first copy"), 2*base)
		require.LessOrEqual(t, median("reused slot"), base/2)
	}
}
