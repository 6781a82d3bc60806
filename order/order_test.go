package order

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

// week returns a window that was reported now.
func week(used float64, resetsIn time.Duration) call.QuotaWindow {
	now := time.Now()
	return call.QuotaWindow{Name: "w", Used: &used, ObservedAt: now, ResetsAt: now.Add(resetsIn)}
}

func known(windows ...call.QuotaWindow) func() []call.QuotaWindow {
	return func() []call.QuotaWindow { return windows }
}

func TestHeadroomUnknownInMiddle(t *testing.T) {
	unknown := Candidate{Name: "?"}
	rest := func(left float64) Candidate {
		return Candidate{Name: fmt.Sprint(left), Quota: known(week(1-left, time.Hour))}
	}
	for want, candidates := range map[string][]Candidate{
		"? ?":               {unknown, unknown},
		"0.5 ?":             {unknown, rest(0.5)},
		"? 0":               {rest(0), unknown},
		"0.5 ? 0.25":        {rest(0.25), unknown, rest(0.5)},
		"0.75 0.5 ? ? 0.25": {unknown, rest(0.25), rest(0.75), rest(0.5), unknown},
		"0.5 ? 0 0":         {rest(0), unknown, rest(0.5), rest(0)},
	} {
		var names []string
		for _, c := range Headroom(call.Prompt("hi"), candidates) {
			names = append(names, c.Name)
		}
		require.Equal(t, want, strings.Join(names, " "))
	}
}

func TestStrategies(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	candidates := []Candidate{
		{Name: "a", LastLimited: now, Duration: 3 * time.Second, Quota: known(week(0.5, 24*time.Hour))},
		{Name: "b", LastLimited: now.Add(-time.Hour), Duration: time.Second},
		{Name: "c", Quota: known(week(0.5, 48*time.Hour), week(0, time.Hour))},
		{Name: "d", Duration: 2 * time.Second, Quota: known(week(0.1, 24*time.Hour))},
	}
	req := call.Prompt("hi")
	req.Session = "c.MQ"
	for name, test := range map[string]struct {
		strategy Strategy
		want     string
	}{
		"least recently limited": {LeastRecentlyLimited, "c d b a"},
		"fastest known":          {Fastest, "b d a c"},
		"most left per hour":     {Headroom, "d a b c"},
		"sticky by session":      {StickySession, "c a b d"},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			for _, c := range test.strategy(req, slices.Clone(candidates)) {
				names = append(names, c.Name)
			}
			require.Equal(t, test.want, strings.Join(names, " "))
		})
	}
}
