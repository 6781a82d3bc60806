package queue

import (
	"testing"

	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

func TestParseLimits(t *testing.T) {
	got, err := parseLimits([]byte(`
default: {running: 4, queued: 1000, max_priority: normal}
owners:
  team-a: {cost_usd_per_day: 5.5, tokens_per_day: 2000000}
  "": {queued: 1}
`))
	require.NoError(t, err)
	require.Equal(t, &jetstream.Limits{
		Default: jetstream.OwnerLimits{Running: 4, Queued: 1000, Priority: jetstream.PriorityNormal},
		Owners: map[string]jetstream.OwnerLimits{
			"team-a": {CostUSD: 5.5, Tokens: 2_000_000}, "": {Queued: 1},
		},
	}, got)
	for text, want := range map[string]string{
		"":                                    "the file is empty",
		"default: {run: 4}":                   `unknown field "run"`,
		"owner: {}":                           `unknown field "owner"`,
		"default: {running: many}":            "running",
		"default: {running: -1}":              "default: running: -1: use 1 to 10000",
		"owners: {Team: {}}":                  `"Team" cannot be an owner`,
		"owners: {a: {queued: 1}, a: {}}":     "already",
		"default: {max_priority: top}":        `max_priority: "top"`,
		"default: {cost_usd_per_day: .nan}":   "NaN",
		"- running":                           "seq",
		"default: {running: 1}\n---\nx: {}\n": "document",
	} {
		_, err := parseLimits([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}
