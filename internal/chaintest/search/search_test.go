package search_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/clichain/clichain"
)

var searchTime = flag.Duration("search", 500*time.Millisecond, "how long TestChainKeepsPromises searches with random seeds")

// searchBehavior is what a backend does in one call. Without a Reason it answers.
type searchBehavior struct {
	Takes       time.Duration // until the answer, the failure or the panic
	Stubborn    bool          // ignores the end of its context
	Panics      bool
	Reason      clichain.Reason
	Reset       time.Duration // from the failure until its RetryAfter; zero: none
	SideEffects bool          // reported with the failure
	Retried     bool          // the failure is that of a second run
	Text        bool          // text arrives before the end
	Tokens      int64
}

// searchCall is one call of the chain. Delay is from the begin of its step; Deadline and Cancel are from its own begin.
type searchCall struct {
	Delay, Deadline, Cancel time.Duration // zero: none
	Access                  clichain.Access
	Stream                  bool
	Backends                []searchBehavior
}

// searchStep waits, sets the clock of the cooldowns forward or back, and then makes calls at the same time.
type searchStep struct {
	Wait, Jump time.Duration
	Calls      []searchCall
}

// searchScenario is a chain and what happens to it.
type searchScenario struct {
	Backends           int
	Budget, MinAttempt time.Duration
	Replay             clichain.ReplayPolicy
	AcceptReset        bool
	NoCooldown         bool
	Strict             bool   // a policy in which a failed process stops the chain
	Store              string // a key of searchStores
	Steps              []searchStep
}

var searchReasons = []clichain.Reason{
	"", "", clichain.ReasonRateLimited, clichain.ReasonUsageLimit, clichain.ReasonOverloaded, clichain.ReasonExit,
	clichain.ReasonTimeout, clichain.ReasonBadModel, clichain.ReasonBadRequest, clichain.ReasonUnsupported,
}

func searchDuration(most time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(0, int(most/(100*time.Millisecond))).Draw(t, "tenths")) * 100 * time.Millisecond
	})
}

// searchOne is true once in n draws, and false in the simplest case.
func searchOne(t *rapid.T, n int, label string) bool {
	return rapid.IntRange(0, n-1).Draw(t, label) == n-1
}

func drawBehavior(t *rapid.T) searchBehavior {
	b := searchBehavior{
		// Never at the same time as the end of a budget or a cancellation: the order would be random.
		Takes:  3*time.Millisecond + searchDuration(20*time.Second).Draw(t, "takes"),
		Reason: rapid.SampledFrom(searchReasons).Draw(t, "reason"), Tokens: int64(rapid.IntRange(0, 9).Draw(t, "tokens")),
		Stubborn: searchOne(t, 8, "stubborn"), Panics: searchOne(t, 30, "panics"), SideEffects: searchOne(t, 8, "effects"),
		Retried: searchOne(t, 6, "retried"), Text: searchOne(t, 3, "text"),
	}
	if b.Reason != "" && searchOne(t, 2, "announced") {
		b.Reset = searchDuration(10*time.Minute).Draw(t, "reset")
	}
	return b
}

func drawCall(t *rapid.T, backends, place int) searchCall {
	c := searchCall{
		Delay:  time.Duration(place)*time.Millisecond + searchDuration(3*time.Second).Draw(t, "delay"),
		Access: rapid.SampledFrom([]clichain.Access{clichain.AccessNone, clichain.AccessWrite}).Draw(t, "access"),
		Stream: rapid.Bool().Draw(t, "stream"),
	}
	if searchOne(t, 3, "has deadline") {
		c.Deadline = time.Second + searchDuration(30*time.Second).Draw(t, "deadline")
	}
	if searchOne(t, 10, "is canceled") {
		c.Cancel = 50*time.Millisecond + searchDuration(10*time.Second).Draw(t, "cancel")
	}
	for range backends {
		c.Backends = append(c.Backends, drawBehavior(t))
	}
	return c
}

func drawScenario(t *rapid.T) *searchScenario {
	s := &searchScenario{
		Backends: rapid.IntRange(1, 4).Draw(t, "backends"),
		Budget:   searchDuration(60*time.Second).Draw(t, "budget"),
		Replay: rapid.SampledFrom([]clichain.ReplayPolicy{
			"", clichain.ReplayAlways, clichain.ReplayNever,
		}).Draw(t, "replay"),
		AcceptReset: rapid.Bool().Draw(t, "accept reset"), NoCooldown: searchOne(t, 8, "no cooldown"),
		Strict: searchOne(t, 4, "strict"),
		Store:  rapid.SampledFrom([]string{"memory", "memory", "failing", "slow", "stuck"}).Draw(t, "store"),
	}
	if rapid.Bool().Draw(t, "has minimum") {
		s.MinAttempt = 100*time.Millisecond + searchDuration(10*time.Second).Draw(t, "minimum")
	}
	for range rapid.IntRange(1, 6).Draw(t, "steps") {
		step := searchStep{Wait: searchDuration(5*time.Minute).Draw(t, "wait")}
		if searchOne(t, 5, "clock jumps") {
			step.Jump = time.Duration(rapid.IntRange(-120, 120).Draw(t, "minutes")) * time.Minute
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "calls") {
			step.Calls = append(step.Calls, drawCall(t, s.Backends, i))
		}
		s.Steps = append(s.Steps, step)
	}
	return s
}

// checkScenario runs a scenario and returns the promises that the chain has broken.
func checkScenario(t *testing.T, s *searchScenario) (problems []string) {
	synctest.Test(t, func(*testing.T) {
		w := s.run()
		for _, c := range w.calls {
			for _, check := range searchChecks {
				if problem := check.broken(w, c); problem != "" {
					problems = append(problems, fmt.Sprintf("call %d: %s: %s", c.id, check.promise, problem))
				}
			}
		}
		problems = append(problems, w.brokenCooldowns()...)
	})
	return problems
}

// foundCall is a call that begins after a delay, and whose first backend takes a time. Both are in milliseconds. A limit
// is over after 100 ms.
func foundCall(delay, takes time.Duration, reason clichain.Reason) searchCall {
	first := searchBehavior{Takes: takes * time.Millisecond, Reason: reason}
	if takes < 1000 {
		first.Reset = 100 * time.Millisecond
	}
	return searchCall{Delay: delay * time.Millisecond, Backends: []searchBehavior{first, {Takes: 3 * time.Millisecond}}}
}

func foundCalls(calls ...searchCall) searchStep { return searchStep{Calls: calls} }

// foundScenarios are those in which the search has found a defect.
var foundScenarios = map[string]searchScenario{
	"a probe reports a limit shortly before the budget ends": {
		Backends: 2, Budget: 5 * time.Second, Store: "memory", Steps: []searchStep{
			foundCalls(foundCall(0, 3, "")), foundCalls(foundCall(0, 5003, "")),
			foundCalls(foundCall(0, 5003, ""), foundCall(1, 3, clichain.ReasonExit)),
			foundCalls(foundCall(0, 4503, clichain.ReasonRateLimited)), foundCalls(foundCall(100, 3, "")),
		},
	},
	"a limit begins and ends during a probe": {
		Backends: 1, Budget: 5 * time.Second, Store: "memory", Steps: []searchStep{
			foundCalls(foundCall(0, 3, clichain.ReasonExit)), foundCalls(foundCall(0, 3, clichain.ReasonExit)),
			foundCalls(foundCall(0, 3, clichain.ReasonExit)),
			foundCalls(foundCall(300, 3, ""), foundCall(101, 3, clichain.ReasonRateLimited), foundCall(2, 203, "")),
		},
	},
}

func TestChainKeepsPromisesInFoundScenarios(t *testing.T) {
	t.Parallel()
	for name, s := range foundScenarios {
		t.Run(name, func(t *testing.T) { require.Empty(t, checkScenario(t, &s)) })
	}
}

// A chain keeps its promises whatever its backends, its store and its callers do. -search=1h searches for an hour. A
// failure prints the seed that repeats it: -rapid.seed.
func TestChainKeepsPromises(t *testing.T) {
	seed, checks := flag.Lookup("rapid.seed").Value, flag.Lookup("rapid.checks").Value
	given := seed.String() != "0"
	was := checks.String()
	require.NoError(t, flag.Set("rapid.nofailfile", "true")) // the seed is enough
	require.NoError(t, checks.Set("200"))
	t.Cleanup(func() { _ = checks.Set(was) })
	var seeds []string
	defer func() { t.Logf("seeds: %s", strings.Join(seeds, " ")) }()
	for end := time.Now().Add(*searchTime); len(seeds) == 0 || !given && time.Now().Before(end); {
		if !given {
			require.NoError(t, seed.Set(fmt.Sprint(rand.Uint64()>>1|1)))
			defer func() { _ = seed.Set("0") }()
		}
		seeds = append(seeds, seed.String())
		rapid.Check(t, func(rt *rapid.T) {
			s := drawScenario(rt)
			if problems := checkScenario(t, s); len(problems) > 0 {
				rt.Fatalf("%s\n%+v", strings.Join(problems, "\n"), *s)
			}
		})
	}
}
