package conformance_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/live"
)

// liveModel returns the model for live calls. Without a model, opencode has no live mode.
func liveModel(name string) string { return cmp.Or(models[name], loggedOutModels[name]) }

func (c cli) liveQuestion(text string) clichain.Request {
	req := clichain.Prompt(text)
	req.Model = liveModel(c.home.Name)
	return req
}

// eachLive runs a test for each CLI that has a live mode.
func eachLive(t *testing.T, test func(t *testing.T, name string)) {
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		t.Parallel()
		test(t, name)
	})
}

// One process of each CLI answers several turns, handles an interrupt in the middle of a turn, and leaves no
// processes.
func TestLiveSession(t *testing.T) {
	eachLive(t, func(t *testing.T, name string) {
		cfg := clichain.Config{Timeout: 2 * time.Minute}
		c := start(t, name, home.LoggedIn, cfg, loopback.InOrder(
			loopback.Text(answered), loopback.Text(hello), loopback.Text("third"), loopback.Slow(time.Second, loopback.Text("one two three four five six seven eight nine ten eleven twelve")), loopback.Text("after it"), loopback.Text("resumed"),
		))
		s := live.New(c.Provider, &live.Config{Request: clichain.Request{Model: liveModel(name)}})
		t.Cleanup(s.Kill)
		began := time.Now()
		require.NoError(t, s.Start(t.Context()))
		t.Logf("ready after %v", time.Since(began).Round(time.Millisecond))
		var cost *float64 // of one turn
		for i, want := range []string{answered, hello, "third"} {
			began := time.Now()
			resp, err := s.Ask(t.Context(), []string{asked, "and now?", "and then?"}[i])
			require.NoError(t, err)
			require.Equal(t, want, resp.Text)
			require.EqualValues(t, loopback.OutputTokens, resp.Usage.OutputTokens, "usage of one turn")
			require.Equal(t, name == home.Claude, resp.Usage.CostUSD != nil, "only claude reports a cost")
			if cost == nil {
				cost = resp.Usage.CostUSD
			}
			if cost != nil {
				require.InDelta(t, *cost, *resp.Usage.CostUSD, 0.1**cost, "usage of one turn")
			}
			t.Logf("turn %d: %v, %+v", i, time.Since(began).Round(time.Millisecond), resp.Usage)
		}
		require.Contains(t, string(c.server.Calls()[2].Body), asked, "the request contains the earlier turns")

		turn, err := s.Send("talk")
		require.NoError(t, err)
		require.Eventually(t, func() bool { return len(c.server.Calls()) == 4 }, time.Minute, 10*time.Millisecond)
		began = time.Now()
		require.NoError(t, s.Interrupt(t.Context()))
		t.Logf("interrupted after %v", time.Since(began).Round(time.Millisecond))
		_, err = turn.Wait(t.Context())
		require.ErrorIs(t, err, live.ErrInterrupted)
		resp, err := s.Ask(t.Context(), "and after that?")
		require.NoError(t, err)
		require.Equal(t, "after it", resp.Text)

		require.NoError(t, s.Pause())
		turn, err = s.Send("when you can")
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err = turn.Wait(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, s.Resume())
		resp, err = turn.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "resumed", resp.Text)
		began = time.Now()
		s.Stop()
		t.Logf("stopped after %v", time.Since(began).Round(time.Millisecond))
		require.NoError(t, s.Status().Err)
		require.Empty(t, living(t, c.home))
	})
}

// A tool that needs permission runs only if the caller allows it.
func TestToolPermission(t *testing.T) {
	for _, name := range []string{home.Claude, home.Codex} {
		for _, allowed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s allowed=%t", name, allowed), func(t *testing.T) {
				t.Parallel()
				command := map[string]loopback.Reply{
					home.Claude: shell(home.Claude, `sh -c "touch made"`),
					home.Codex: loopback.Tool("exec_command", map[string]any{
						"cmd": "touch made", "yield_time_ms": 10000, "sandbox_permissions": "require_escalated", "justification": "because",
					}),
				}[name]
				c := start(t, name, home.LoggedIn, clichain.Config{Timeout: 2 * time.Minute}, loopback.InOrder(command, loopback.Text(hello)))
				var asked atomic.Int64
				s := live.New(c.Provider, &live.Config{
					Request: clichain.Request{Access: clichain.AccessWrite, Dir: c.home.Work},
					OnPermission: func(_ context.Context, q live.Question) bool {
						asked.Add(1)
						return allowed && strings.Contains(q.Tool+string(q.Input), "touch made")
					},
				})
				t.Cleanup(s.Kill)
				require.NoError(t, s.Start(t.Context()))
				resp, err := s.Ask(t.Context(), "use your shell")
				require.NoError(t, err)
				require.Equal(t, hello, resp.Text)
				require.EqualValues(t, 1, asked.Load())
				made(allowed, "work/made")(t, c)
			})
		}
	}
}

// warm returns a pool of one CLI and its backend. Calls wait for a process, so all of them are warm.
func warm(t *testing.T, c cli, cfg *live.PoolConfig) (*live.Pool, clichain.Backend) {
	t.Helper()
	settings := live.PoolConfig{Wait: time.Minute}
	if cfg != nil {
		settings = *cfg
		settings.Wait = time.Minute
	}
	p := live.NewPool([]*clichain.Provider{c.Provider}, &settings)
	t.Cleanup(func() { require.Empty(t, p.Close().Left) })
	return p, p.Backends()[0]
}

// A warm call sends nothing of the previous call to the model. A cold call follows, to compare the sizes of the
// requests.
func TestWarmCallSendsNoHistory(t *testing.T) {
	long(t)
	eachLive(t, func(t *testing.T, name string) {
		cfg := clichain.Config{Timeout: 2 * time.Minute}
		c := start(t, name, home.LoggedIn, cfg, loopback.Always(loopback.Text(answered)))
		p, b := warm(t, c, nil)
		first, second := c.liveQuestion(asked), c.liveQuestion("what did I say?")
		before, err := b.Complete(t.Context(), first)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return p.Stats().Busy == 0 }, time.Minute, 10*time.Millisecond)
		resp, err := b.Complete(t.Context(), second)
		require.NoError(t, err)
		require.Equal(t, answered, resp.Text)
		if cost := before.Usage.CostUSD; cost != nil {
			require.InDelta(t, *cost, *resp.Usage.CostUSD, 0.1**cost, "cost of one call")
		}
		_, err = c.Complete(t.Context(), second)
		require.NoError(t, err)

		calls := c.server.Calls()
		require.Len(t, calls, 3)
		for _, word := range []string{"zyzzyva", "vermilion", "noted"} {
			require.NotContains(t, string(calls[1].Body), word)
		}
		require.Contains(t, string(calls[1].Body), "what did I say?")
		t.Logf("%s: %d bytes warm, %d cold", name, len(calls[1].Body), len(calls[2].Body))
		require.Equal(t, live.Stats{Processes: 1, Started: 1, Warm: 2}, p.Stats())
	})
}

// Warm and cold calls run in turn.
func TestWarmVersusCold(t *testing.T) {
	long(t)
	for _, name := range home.Names() {
		t.Run(name, func(t *testing.T) {
			cfg := clichain.Config{Timeout: 2 * time.Minute}
			c := start(t, name, home.LoggedIn, cfg, loopback.Always(loopback.Text(hello)))
			p, b := warm(t, c, nil)
			const rounds = 9
			var cold, hot []time.Duration
			for i := range rounds + 1 {
				for _, one := range []struct {
					b    clichain.Backend
					list *[]time.Duration
				}{{c, &cold}, {b, &hot}} {
					began := time.Now()
					resp, err := one.b.Complete(t.Context(), c.liveQuestion("say hi"))
					require.NoError(t, err)
					require.Equal(t, hello, resp.Text)
					if i > 0 { // the first call starts the process
						*one.list = append(*one.list, time.Since(began))
					}
					require.Eventually(t, func() bool { return p.Stats().Busy == 0 }, time.Minute, time.Millisecond)
				}
			}
			slices.Sort(cold)
			slices.Sort(hot)
			ratio := float64(cold[rounds/2]) / float64(hot[rounds/2])
			t.Logf("%s: cold %v (%v to %v), warm %v (%v to %v), %.1f times", name, cold[rounds/2].Round(time.Millisecond), cold[0].Round(time.Millisecond),
				cold[rounds-1].Round(time.Millisecond), hot[rounds/2].Round(time.Millisecond), hot[0].Round(time.Millisecond), hot[rounds-1].Round(time.Millisecond), ratio)
			require.Greater(t, ratio, 2.0)
		})
	}
}

// One in twenty concurrent requests meets a failing service. Each call returns an answer or a typed error.
func TestManyWarmCalls(t *testing.T) {
	long(t)
	eachLive(t, func(t *testing.T, name string) {
		var served atomic.Int64
		cfg := clichain.Config{Timeout: 2 * time.Minute}
		c := start(t, name, home.LoggedIn, cfg, func(q loopback.Request) loopback.Reply {
			if served.Add(1)%20 == 0 {
				return loopback.Error(400, "invalid_request_error", "messages: bad")
			}
			return loopback.Text(hello)
		})
		p, b := warm(t, c, &live.PoolConfig{Size: 2})
		var running sync.WaitGroup
		var answered, failed atomic.Int64
		var longest atomic.Int64
		for range 2 {
			running.Go(func() {
				for range 25 {
					began := time.Now()
					resp, err := b.Complete(t.Context(), c.liveQuestion("say hi"))
					longest.Store(max(longest.Load(), int64(time.Since(began))))
					switch {
					case err == nil && resp.Text == hello:
						answered.Add(1)
					case call.AsError(name, err).Reason != "":
						failed.Add(1)
					default:
						t.Errorf("%+v %v", resp, err)
					}
				}
			})
		}
		running.Wait()
		require.EqualValues(t, 50, answered.Load()+failed.Load())
		require.Less(t, time.Duration(longest.Load()), cfg.Timeout)
		t.Logf("%s: %d answered, %d failed, the longest took %v, %+v", name, answered.Load(), failed.Load(), time.Duration(longest.Load()).Round(time.Millisecond), p.Stats())
	})
}

// The test logs the memory of a warm process and its growth.
func TestMemoryOfWarmProcesses(t *testing.T) {
	long(t)
	eachLive(t, func(t *testing.T, name string) {
		c := start(t, name, home.LoggedIn, clichain.Config{Timeout: 2 * time.Minute}, loopback.Always(loopback.Text(hello)))
		p, b := warm(t, c, &live.PoolConfig{MaxCalls: 1000})
		const calls = 21
		var first, last int
		for i := range calls {
			_, err := b.Complete(t.Context(), c.liveQuestion("say hi"))
			require.NoError(t, err)
			require.Eventually(t, func() bool { return p.Stats().Busy == 0 }, time.Minute, time.Millisecond)
			if last = residentMB(t, c.home); i == 0 {
				first = last
			}
		}
		require.Equal(t, 1, p.Stats().Started)
		t.Logf("%s: %d MB after the first call, %.1f MB more for each of the next %d", name, first, float64(last-first)/(calls-1), calls-1)
	})
}

// residentMB returns the memory of all processes of a home.
func residentMB(t *testing.T, h home.Home) (mb int) {
	t.Helper()
	for _, process := range living(t, h) {
		pid, _, _ := strings.Cut(process, " ")
		text, _ := os.ReadFile("/proc/" + pid + "/statm")
		fields := strings.Fields(string(text))
		if len(fields) > 1 {
			pages, _ := strconv.Atoi(fields[1])
			mb += pages * os.Getpagesize() >> 20
		}
	}
	return mb
}
