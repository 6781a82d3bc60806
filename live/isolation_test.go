package live_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
)

// isolationRuns is how many pairs of calls each of these tests makes, of each kind.
var isolationRuns = flag.Int("isolation.runs", 0, "pairs of calls in each test of isolation; 0: a few")

// variant is a fake agent and its spec.
type variant struct {
	dialect, manners string
	change           func(*clispec.LiveRules)
}

// variants are how a live spec keeps the lines of one caller from the next one.
var variants = map[string]variant{
	"id that clear changes":  {dialect: "control"},
	"threads":                {dialect: "threads"},
	"acp":                    {dialect: "acp"},
	"barrier after clear":    {"control", "nameless", withBarrier},
	"barrier after a thread": {"threads", "nameless", withBarrier},
}

func withBarrier(r *clispec.LiveRules) {
	r.Of, r.OfTurn, r.Barrier = "", "", []clispec.LiveMessage{{Method: "sync"}}
}

// unguarded is the control dialect as its rules were before lines had to name a context. "initialize" proves nothing of
// earlier lines.
var unguarded = variant{"control", "", func(r *clispec.LiveRules) {
	r.Of, r.Barrier = "", []clispec.LiveMessage{{Method: "initialize"}}
}}

// pool is a pool of the variant.
func (v variant) pool(t *testing.T, cfg *live.PoolConfig) (*live.Pool, clichain.Backend) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	backend := patient
	backend.Binary = filepath.Join(t.TempDir(), "agent-"+v.dialect)
	backend.Env = []string{"AGENT_MANNERS=" + v.manners}
	require.NoError(t, os.Symlink(exe, backend.Binary))
	spec := agentSpec(v.dialect)
	if v.change != nil {
		v.change(&spec.Live)
	}
	require.NoError(t, spec.Validate())
	settings := live.PoolConfig{Wait: time.Minute}
	if cfg != nil {
		settings = *cfg
		settings.Wait = time.Minute
	}
	p := live.NewPool([]*clichain.Provider{clichain.NewProvider(spec, &backend)}, &settings)
	t.Cleanup(func() { require.Empty(t, p.Close().Left) })
	return p, p.Backends()[0]
}

// lateLines counts the calls that got something of the call before, out of runs.
func (v variant) lateLines(t *testing.T, kind string) (foreign, runs int, stats live.Stats) {
	t.Helper()
	p, b := v.pool(t, &live.PoolConfig{MaxCalls: 1 << 20})
	runs = cmp.Or(*isolationRuns, len(lateTimes))
	for i := range runs {
		first := fmt.Sprintf("belated %s %s first %d", kind, lateTimes[i%len(lateTimes)], i)
		resp, err := b.Complete(t.Context(), clichain.Prompt(first))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint("first ", i), resp.Text)
		idle(t, b, p)
		want := fmt.Sprint("second ", i)
		resp, err = b.Complete(t.Context(), clichain.Prompt("say "+want))
		if err != nil || resp.Text != want || resp.Usage.InputTokens != 3 && v.dialect != "acp" {
			foreign++
		}
		idle(t, b, p)
	}
	return foreign, runs, p.Stats()
}

var lateKinds = []string{"result", "text", "answer"}

// A line that a process prints of one call after its end is never read as one of the next call, and costs no process.
func TestLateLinesAreOfNoOtherCall(t *testing.T) {
	clitest.NoLeaks(t)
	for name, v := range variants {
		t.Run(name, func(t *testing.T) {
			for _, kind := range lateKinds {
				foreign, runs, stats := v.lateLines(t, kind)
				require.Zero(t, foreign, kind)
				require.Equal(t, live.Stats{Processes: 1, Started: 1, Warm: 2 * runs}, stats, kind)
			}
		})
	}
}

// Without such a rule the same lines answer the next call: the tests of isolation see it, and this is the figure.
func TestLateLinesWithoutARule(t *testing.T) {
	clitest.NoLeaks(t)
	for _, kind := range lateKinds {
		before, runs, _ := unguarded.lateLines(t, kind)
		after, _, _ := variants["id that clear changes"].lateLines(t, kind)
		t.Logf("late %s: %d of %d calls answered with lines of the call before, %d with live.of", kind, before, runs, after)
		require.Positive(t, before, kind)
		require.Zero(t, after, kind)
	}
}

// A process whose lines do not tell a new context from the old one answers one call.
func TestContextWithoutANewName(t *testing.T) {
	for name, v := range map[string]variant{
		"no line names it":             {"control", "nameless", nil},
		"each thread has the same one": {"threads", "one thread", nil},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			p, b := v.pool(t, nil)
			for range 2 {
				resp, err := b.Complete(t.Context(), clichain.Prompt("say x"))
				require.NoError(t, err)
				require.Equal(t, "x", resp.Text)
				idle(t, b, p)
			}
			require.Equal(t, live.Stats{Processes: 0, Started: 2, Warm: 2}, p.Stats())
		})
	}
}

// What a process prints late on stderr, or as plain text on stdout, does not judge the next call, and is not shown to its
// caller. The reason is not that of the caller before, which would have the backend cool down for the third.
func TestLateWordsJudgeNoOtherCall(t *testing.T) {
	clitest.NoLeaks(t)
	for name, v := range variants {
		t.Run(name, func(t *testing.T) {
			for i := range cmp.Or(*isolationRuns, 4*len(lateTimes)) {
				kind, at := []string{"stderr", "stray"}[i%2], lateTimes[i/2%len(lateTimes)]
				p, b := v.pool(t, nil)
				chain := clichain.ChainOf([]clichain.Backend{b}, nil)
				resp, err := chain.Complete(t.Context(), clichain.Prompt(fmt.Sprintf("belated %s %s first", kind, at)))
				require.NoError(t, err)
				require.Equal(t, "first", resp.Text)
				idle(t, b, p)
				if i/2/len(lateTimes)%2 == 1 {
					_, err = b.Complete(t.Context(), clichain.Prompt("fail 429 rate limited"))
					failed := requireReason(t, clichain.ReasonRateLimited, err)
					require.NotContains(t, failed.Stderr+failed.Message, lateText)
					continue
				}
				_, err = chain.Complete(t.Context(), clichain.Prompt("crash"))
				requireReason(t, clichain.ReasonExit, err)
				resp, err = chain.Complete(t.Context(), clichain.Prompt("say third"))
				require.NoError(t, err, "the backend does not cool down")
				require.Equal(t, "third", resp.Text)
			}
		})
	}
}

// In a session a late line of stderr is of the same caller: it is shown, and still does not judge the next turn. Such a
// line of the first turn of a process does.
func TestLateWordsInASession(t *testing.T) {
	each(t, func(t *testing.T, dialect string) {
		for i := range cmp.Or(*isolationRuns, 1) {
			s := startedBeside(t, dialect, "", patient, nil)
			_, err := s.Ask(t.Context(), "belated stderr asked first")
			require.NoError(t, err, i)
			_, err = s.Ask(t.Context(), "crash")
			require.Contains(t, requireReason(t, clichain.ReasonExit, err).Stderr, lateText)
			s = startedBeside(t, dialect, "", patient, nil)
			_, err = s.Ask(t.Context(), "die")
			requireReason(t, clichain.ReasonRateLimited, err)
		}
	})
}
