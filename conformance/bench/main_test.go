package bench_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
)

var (
	write  = flag.Bool("write", false, "measure all rows and write docs/reference/benchmarks.md")
	rounds = flag.Int("rounds", 0, "limit for the rounds of a row, for a trial; 0: no limit")
)

func TestMain(m *testing.M) {
	playCaller()
	os.Exit(netns.Main(m))
}

// TestBenchmarks measures each row with all contenders in turn. Without -write it runs some rows once, to check that
// they work.
func TestBenchmarks(t *testing.T) {
	netns.Require(t)
	if !*write && !netns.Long() {
		t.Skip("only with -write, or in short with " + netns.Variable + "=long")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	begin := machineNow(t)
	var results []result
	for _, r := range rows {
		switch {
		case !*write && !r.short:
			continue
		case !*write:
			r.rounds = 1
			r.job.Prompts = r.job.Prompts[:min(20, len(r.job.Prompts))]
		case *rounds > 0:
			r.rounds = min(r.rounds, *rounds)
		}
		t.Run(r.name, func(t *testing.T) { results = append(results, r.measureAll(t)) })
	}
	if *write {
		require.NoError(t, os.WriteFile(pageFile, []byte(page(t, begin, results)), 0o644))
		chart := exec.CommandContext(t.Context(), "go", "test", "./docs", "-run", "TestPictures", "-update")
		chart.Dir = filepath.Join("..", "..")
		out, err := chart.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

// result is what the rounds of a row measured.
type result struct {
	row
	seen   map[string][]turn // by contender, in the order of the rounds
	failed map[string]error  // the latest failure of a contender
}

func (r row) measureAll(t *testing.T) result {
	if r.idle != "" {
		startIdle(t, r.idle)
	}
	res := result{r, map[string][]turn{}, map[string]error{}}
	var alone, together []func()
	var lock sync.Mutex
	for _, c := range contenders {
		if r.missing[c.name] != "" {
			continue
		}
		s, j := r.runner(t, c), r.jobOf(c, r.second(t, c))
		one := func() {
			seen := r.take(t, s, j)
			lock.Lock()
			defer lock.Unlock()
			res.add(t, c.name, seen)
		}
		if slices.Contains(r.together, c.name) {
			together = append(together, one)
		} else {
			alone = append(alone, one)
		}
	}
	first := 0
	if together == nil && r.rounds > 1 {
		first = -1 // a warm-up round: the first start creates files that later starts use
	}
	for round := first; round < r.rounds; round++ {
		if round == 0 {
			clear(res.seen)
		}
		for _, one := range alone {
			one()
		}
		var running sync.WaitGroup
		for _, one := range together {
			running.Go(one)
		}
		running.Wait()
	}
	return res
}

func (r row) take(t *testing.T, s *runner, j job) turn {
	if r.tool {
		return s.takeWithTool(t, j)
	}
	return s.take(t, j)
}

// add stores a turn. It drops a failed turn, unless the row expects failures.
func (res *result) add(t *testing.T, name string, seen turn) {
	if err := seen.failure(len(seen.Prompts)); err != nil {
		res.failed[name] = err
		if !res.limited && !seen.Ran {
			t.Errorf("%s: %v", name, err)
			return
		}
	}
	t.Logf("%s: %.0f ms, %d bytes in %d requests, %d left, %d MB, %v", name, seen.Took, seen.Bytes, seen.Requests,
		seen.Left, seen.Peak>>20, seen.failure(len(seen.Prompts)))
	res.seen[name] = append(res.seen[name], seen)
}

// second returns the target of the fallback CLI, and nil for a contender that cannot call two CLIs.
func (r row) second(t *testing.T, c contender) *target {
	if !r.limited || !slices.Contains([]string{clichainName, execName, xargsName}, c.name) {
		return nil
	}
	server := loopback.New(t, loopback.Always(loopback.Text(hello)))
	_, s := realTarget(t, home.Codex, server.URL)
	return &s
}
