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

// isolationRuns is the number of pairs of calls of each kind in each of these tests.
var isolationRuns = flag.Int("isolation.runs", 0, "pairs of calls in each test of isolation; 0: a few")

// variant is a fake agent and its spec.
type variant struct {
	dialect, manners string
	change           func(*clispec.LiveRules)
}

// variants are the ways in which a live spec separates the lines of one caller from those of the next.
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

// unguarded is the control dialect with its former rules, in which lines did not have to name a context. The
// response to "initialize" proves nothing about earlier lines.
var unguarded = variant{"control", "", func(r *clispec.LiveRules) {
	r.Of, r.Barrier = "", []clispec.LiveMessage{{Method: "initialize"}}
}}

// pool returns a pool of the variant.
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

// lateLines counts the calls, out of runs, that received lines of the previous call.
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

// A line that a process prints after the end of its call is never read as a line of the next call, and does not
// end the process.
func TestLateLinesDoNotReachNextCall(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	for name, v := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, kind := range lateKinds {
				foreign, runs, stats := v.lateLines(t, kind)
				require.Zero(t, foreign, kind)
				require.Equal(t, live.Stats{Processes: 1, Started: 1, Warm: 2 * runs}, stats, kind)
			}
		})
	}
}

// Without such a rule, the same lines become answers of the next call. This shows that the isolation tests
// detect the fault, and measures its rate.
func TestLateLinesWithoutContextRule(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	for _, kind := range lateKinds {
		before, runs, _ := unguarded.lateLines(t, kind)
		after, _, _ := variants["id that clear changes"].lateLines(t, kind)
		t.Logf("late %s: %d of %d calls answered with lines of the call before, %d with live.of", kind, before, runs, after)
		require.Positive(t, before, kind)
		require.Zero(t, after, kind)
	}
}

// A process whose lines do not distinguish a new context from the old one answers only one call.
func TestProcessWithoutContextIDAnswersOneCall(t *testing.T) {
	t.Parallel()
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

// Late output on stderr, or late plain text on stdout, neither affects the verdict on the next call nor reaches
// its caller. Otherwise the reason of the previous call would put the backend in cooldown for the third call.
func TestLateTextDoesNotAffectNextCall(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	for name, v := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
				require.NoError(t, err, "the backend is not in cooldown")
				require.Equal(t, "third", resp.Text)
			}
		})
	}
}

// In a session, a late line of stderr belongs to the same caller. It appears in the error, but does not affect
// the verdict on the next turn. A line in the first turn of a process does.
func TestLateTextInSession(t *testing.T) {
	t.Parallel()
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
