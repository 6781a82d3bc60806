package call_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

// A stored window is the same window, and unknown fields are not stored.
func TestQuotaWindowJSON(t *testing.T) {
	used := 0.25
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name, text string
		window     call.QuotaWindow
	}{
		{"unknown", `{"name":"primary"}`, call.QuotaWindow{Name: "primary"}},
		{
			"known",
			`{"name":"five_hour","used":0.25,"resets_at":"2026-11-26T17:00:00Z","observed_at":"2026-11-26T12:00:00Z",` +
				`"length_ms":18000000}`,
			call.QuotaWindow{Name: "five_hour", Used: &used, Length: 5 * time.Hour, ResetsAt: at.Add(5 * time.Hour), ObservedAt: at},
		},
		{"empty", `{"name":"primary","used":0}`, call.QuotaWindow{Name: "primary", Used: new(float64)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := json.Marshal(test.window)
			require.NoError(t, err)
			require.JSONEq(t, test.text, string(text))
			var got call.QuotaWindow
			require.NoError(t, json.Unmarshal(text, &got))
			require.Equal(t, test.window, got)
		})
	}
}
