package clichain_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
)

func hedged(backends ...clichain.Backend) *clichain.Chain {
	return clichain.ChainOf(backends, &clichain.ChainConfig{HedgeAfter: 2 * time.Second, NoCooldown: true})
}

// The next is asked too when one takes long; the first answer wins.
func TestHedge(t *testing.T) {
	second := func(n int) time.Duration { return time.Duration(n) * time.Second }
	slowly := func(b *backend, d time.Duration) *backend { b.takes = d; return b }
	for name, test := range map[string]struct {
		backends []*backend
		winner   string
		after    time.Duration
		asked    string
		attempts string
	}{
		"the first is fast":                     {[]*backend{{name: "a", takes: second(1)}, {name: "b"}}, "a", second(1), "a", ""},
		"the second overtakes":                  {[]*backend{{name: "a", takes: second(60)}, {name: "b", takes: second(1)}}, "b", second(3), "a b", "a canceled"},
		"the first wins all the same":           {[]*backend{{name: "a", takes: second(3)}, {name: "b", takes: second(9)}}, "a", second(3), "a b", "b canceled"},
		"a failure starts the next at once":     {[]*backend{slowly(failing("a", clichain.ReasonEmpty), second(1)), {name: "b", takes: second(1)}}, "b", second(2), "a b", "a empty"},
		"a failure while another runs":          {[]*backend{slowly(failing("a", clichain.ReasonEmpty), second(3)), {name: "b", takes: second(4)}, {name: "c", takes: second(60)}}, "b", second(6), "a b c", "a empty, c canceled"},
		"skips cost no time":                    {[]*backend{failing("a", clichain.ReasonNotInstalled), {name: "b", takes: second(1)}}, "b", second(1), "a b", "a not_installed"},
		"all three":                             {[]*backend{{name: "a", takes: second(60)}, {name: "b", takes: second(60)}, {name: "c", takes: second(1)}}, "c", second(5), "a b c", "a canceled, b canceled"},
		"nobody answers":                        {[]*backend{slowly(failing("a", clichain.ReasonEmpty), second(3)), slowly(failing("b", clichain.ReasonExit), second(3))}, "", second(5), "a b", "a empty, b exit"},
		"the caller's mistake is nobody else's": {[]*backend{slowly(failing("a", clichain.ReasonBadOption), second(1)), {name: "b"}}, "", second(1), "a", "a bad_option"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var list []clichain.Backend
				for _, b := range test.backends {
					list = append(list, b)
				}
				start := time.Now()
				resp, err := hedged(list...).Complete(t.Context(), clichain.Prompt("hi"))
				require.Equal(t, test.after, time.Since(start))
				var attempts []clichain.Attempt
				if test.winner == "" {
					var ce *clichain.ChainError
					require.ErrorAs(t, err, &ce)
					attempts = ce.Attempts
				} else {
					require.NoError(t, err)
					require.Equal(t, test.winner, resp.Backend)
					attempts = resp.Attempts
				}
				var got, asked []string
				for _, a := range attempts {
					got = append(got, a.Backend+" "+string(a.Reason))
				}
				for _, b := range test.backends {
					if b.asked > 0 {
						asked = append(asked, b.name)
					}
				}
				slices.Sort(got) // the losers end in any order
				require.Equal(t, test.attempts, strings.Join(got, ", "))
				require.Equal(t, test.asked, strings.Join(asked, " "))
			})
		})
	}
}

// With access to anything, two agents at once could do harm twice.
func TestHedgeIsForHarmlessRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &backend{name: "b"}
		req := clichain.Prompt("hi")
		req.Access = clichain.AccessRead
		resp, err := hedged(&backend{name: "a", takes: time.Minute}, next).Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, "a", resp.Backend)
		require.Zero(t, next.asked)
	})
}

func TestHedgeEndsWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer time.AfterFunc(5*time.Second, cancel).Stop()
		_, err := hedged(&backend{name: "a", takes: time.Hour}, &backend{name: "b", takes: time.Hour}).Complete(ctx, clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrCanceled)
	})
}

// The loser's process tree is gone when the answer is there, and only the
// winner's text is read.
func TestHedgeOfProcesses(t *testing.T) {
	suppressNothing(t)
	clitest.NoLeaks(t)
	c := clichain.ChainOf([]clichain.Backend{
		provider(t, specs.Claude(), clichain.Config{}, play(readStdin, stdout(deltaLine("never mind")+"\n"),
			clitest.Step{Spawn: &clitest.Spawn{Setsid: true, Steps: []clitest.Step{{Hang: true}}}}, clitest.Step{Hang: true})),
		provider(t, specs.Codex(), clichain.Config{}, play(readStdin, stdout(codexAnswer("here")))),
	}, &clichain.ChainConfig{HedgeAfter: 300 * time.Millisecond})
	lines, err := story(t, c.Stream(t.Context(), clichain.Prompt("hi")))
	require.NoError(t, err)
	require.Equal(t, []string{"start", "start", "attempt claude canceled", "text here", "done here"},
		without(lines, "session", "result", "status", "raw"))
}

func without(lines []string, kinds ...string) (rest []string) {
	for _, line := range lines {
		kind, _, _ := strings.Cut(line, " ")
		keep := true
		for _, k := range kinds {
			keep = keep && kind != k
		}
		if keep {
			rest = append(rest, line)
		}
	}
	return rest
}
