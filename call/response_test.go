package call

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAttemptSurvivesJSON(t *testing.T) {
	for _, test := range []struct {
		name    string
		attempt Attempt
		want    Attempt
	}{
		{"zero", Attempt{}, Attempt{}},
		{"failure", failedAttempt("c", ReasonExit, false), failedAttempt("c", ReasonExit, false)},
		{"skip with usage", Attempt{Backend: "c", Reason: ReasonEmpty, Skipped: true, Duration: 1001 * time.Microsecond, Usage: Usage{OutputTokens: 2}},
			Attempt{Backend: "c", Reason: ReasonEmpty, Skipped: true, Duration: 1001 * time.Microsecond, Usage: Usage{OutputTokens: 2}}},
		{"a stranger's error keeps its text", Attempt{Backend: "c", Reason: ReasonExit, Err: strange{1}},
			Attempt{Backend: "c", Reason: ReasonExit, Err: &Error{Backend: "c", Reason: ReasonExit, ExitCode: -1, Message: "strange"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			data, err := json.Marshal(test.attempt)
			require.NoError(t, err)
			var back Attempt
			require.NoError(t, json.Unmarshal(data, &back))
			require.Equal(t, test.want, back)
		})
	}
}

func TestResponseSurvivesJSON(t *testing.T) {
	resp := Response{
		Text: "42", Backend: "claude", Provider: "anthropic-cli", Model: "opus", Session: "claude:1", KeySource: "none",
		Usage:    Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5, Turns: 6, CostUSD: new(0.0)},
		Duration: 1234567 * time.Microsecond, Attempts: []Attempt{failedAttempt("gemini", ReasonTimeout, false)},
		Warnings: []string{"w"}, Metadata: map[string]string{"k": "v"},
	}
	data, err := json.Marshal(resp)
	require.NoError(t, err)
	require.Contains(t, string(data), `"duration_ms":1234.567`)
	require.Contains(t, string(data), `"cost_usd":0`, "a cost of nothing is not an unknown cost")
	var back Response
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, resp, back)

	data, err = json.Marshal(Response{Text: "42", Backend: "c"})
	require.NoError(t, err)
	require.JSONEq(t, `{"text":"42","backend":"c","duration_ms":0}`, string(data))
	require.Error(t, json.Unmarshal([]byte(`{"duration_ms":"soon"}`), &back))
	require.Error(t, json.Unmarshal([]byte(`{"backend":7}`), new(Attempt)))
}

// A queue writes and reads a response several times. Its duration, in whole microseconds, must not drift.
func TestDurationsDoNotDrift(t *testing.T) {
	for us := int64(1); us < 200_000; us += 101 {
		want := time.Duration(us) * time.Microsecond
		data, err := json.Marshal(Response{Duration: want})
		require.NoError(t, err)
		var back Response
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, want, back.Duration)
	}
}

// The sum of two usages has the sum of each count, and the sum of the known costs.
func TestUsageAdd(t *testing.T) {
	counts := Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5, Turns: 6}
	more := Usage{InputTokens: 10, OutputTokens: 20, CacheReadTokens: 30, CacheWriteTokens: 40, ReasoningTokens: 50, Turns: 60}
	require.Equal(t,
		Usage{InputTokens: 11, OutputTokens: 22, CacheReadTokens: 33, CacheWriteTokens: 44, ReasoningTokens: 55, Turns: 66},
		counts.Add(more))
	for _, test := range []struct {
		name        string
		a, b, total *float64
	}{
		{"both unknown", nil, nil, nil},
		{"first unknown", nil, new(0.5), new(0.5)},
		{"second unknown", new(0.25), nil, new(0.25)},
		{"both known", new(0.25), new(0.5), new(0.75)},
		{"nothing", new(0.0), nil, new(0.0)},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, b := Usage{CostUSD: test.a}, Usage{CostUSD: test.b}
			before := fmt.Sprint(a, b)
			require.Equal(t, Usage{CostUSD: test.total}, a.Add(b))
			require.Equal(t, before, fmt.Sprint(a, b), "the summands are unchanged")
		})
	}
}

func TestTotalUsageHasAllAttempts(t *testing.T) {
	attempts := []Attempt{{Usage: Usage{Turns: 2, CostUSD: new(0.5)}}, {}, {Usage: Usage{Turns: 3}}}
	resp := &Response{Usage: Usage{Turns: 1, CostUSD: new(0.25)}, Attempts: attempts}
	require.Equal(t, Usage{Turns: 6, CostUSD: new(0.75)}, resp.TotalUsage())
	require.Equal(t, Usage{Turns: 1, CostUSD: new(0.25)}, resp.Usage, "the response is unchanged")
	require.Equal(t, Usage{Turns: 5, CostUSD: new(0.5)}, (&ChainError{Attempts: attempts}).Usage())
	require.Zero(t, new(Response).TotalUsage())
	require.Zero(t, new(ChainError).Usage())
}

// A change of a clone does not change the response.
func TestResponseClone(t *testing.T) {
	full := func() *Response {
		return &Response{
			Text: "42", Usage: Usage{CostUSD: new(1.0)},
			Quota:    []QuotaWindow{{Name: "week", Used: new(0.5)}, {Name: "day"}},
			Attempts: []Attempt{{Backend: "a", Usage: Usage{CostUSD: new(2.0)}}, {Backend: "b"}},
			Warnings: []string{"w"}, Flags: []Flag{FlagCached}, Metadata: map[string]string{"k": "v"},
			Changes: &Changes{Patch: "p", Files: []FileChange{{Path: "f"}}},
		}
	}
	resp := full()
	c := resp.Clone()
	require.Equal(t, full(), c)
	c.Text, *c.Usage.CostUSD = "", 0
	c.Quota[0].Name, *c.Quota[0].Used = "", 0
	c.Attempts[0].Backend, *c.Attempts[0].Usage.CostUSD = "", 0
	c.Warnings[0], c.Flags[0], c.Metadata["k"] = "", "", ""
	c.Changes.Patch, c.Changes.Files[0].Path = "", ""
	require.Equal(t, full(), resp)
	require.Equal(t, new(Response), new(Response).Clone())
}

// A cost that JSON cannot represent becomes unknown, and the response is still encoded.
func TestCostWithoutJSONNumber(t *testing.T) {
	for _, cost := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		data, err := json.Marshal(Response{Text: "42", Usage: Usage{OutputTokens: 1, CostUSD: new(cost)}})
		require.NoError(t, err)
		var back Response
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, "42", back.Text)
		require.Equal(t, Usage{OutputTokens: 1}, back.Usage)
	}
	data, err := json.Marshal(Usage{CostUSD: new(0.0)})
	require.NoError(t, err)
	require.JSONEq(t, `{"cost_usd":0}`, string(data))
}

func TestUsageString(t *testing.T) {
	for want, u := range map[string]Usage{
		"unknown":        {},
		"$0.0000":        {CostUSD: new(0.0)},
		"$0.0013":        {CostUSD: new(0.00125001)},
		"1 output token": {OutputTokens: 1},
		"12 input tokens (3 from cache, 4 to cache), 5 output tokens (2 reasoning), 1 turn, $1.5000": {
			InputTokens: 12, CacheReadTokens: 3, CacheWriteTokens: 4, OutputTokens: 5, ReasoningTokens: 2, Turns: 1, CostUSD: new(1.5)},
		"0 input tokens (3 from cache), 2 turns": {CacheReadTokens: 3, Turns: 2},
		"20 output tokens (10 reasoning)":        {OutputTokens: 20, ReasoningTokens: 10},
	} {
		require.Equal(t, want, u.String())
	}
	require.Contains(t, fmt.Sprintf("%+v", Response{Usage: Usage{CostUSD: new(0.25)}}), "Usage:$0.2500")
}
