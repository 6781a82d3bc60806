package order

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

func TestStrategies(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	candidates := []Candidate{
		{Name: "a", LastLimited: now, Duration: 3 * time.Second, CostUSD: new(0.2)},
		{Name: "b", LastLimited: now.Add(-time.Hour), Duration: time.Second},
		{Name: "c", CostUSD: new(0.1)},
		{Name: "d", Duration: 2 * time.Second, CostUSD: new(0.1)},
	}
	req := call.Prompt("hi")
	req.Session = "c.MQ"
	for name, test := range map[string]struct {
		strategy Strategy
		want     string
	}{
		"least recently limited": {LeastRecentlyLimited, "c d b a"},
		"fastest known":          {Fastest, "b d a c"},
		"cheapest known":         {Cheapest, "c d a b"},
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
