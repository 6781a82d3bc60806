package call

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEventJSON(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name, text string
		event      Event
	}{
		{"zero", `{"kind":""}`, Event{}},
		{"delta", `{"kind":"delta","backend":"b","text":"a"}`, Event{Kind: EventDelta, Backend: "b", Text: "a"}},
		{
			"retry", `{"kind":"retry","reason":"overloaded","status":529,"message":"m","try":2,"delay_ms":1500.25}`,
			Event{Kind: EventRetry, Reason: ReasonOverloaded, Status: 529, Message: "m", Try: 2, Delay: 1500250 * time.Microsecond},
		},
		{
			"limit", `{"kind":"limit","code":"c","retry_after":"2026-11-20T15:00:00Z","failed":true,"quota":[{"name":"week","length_ms":1000}]}`,
			Event{Kind: EventLimit, Code: "c", RetryAfter: at, Failed: true, Quota: []QuotaWindow{{Name: "week", Length: time.Second}}},
		},
		{
			"tool", `{"kind":"tool_use","id":"1","name":"Bash","input":{"a":1}}`,
			Event{Kind: EventToolUse, ID: "1", Name: "Bash", Input: json.RawMessage(`{"a":1}`)},
		},
		{
			"attempt", `{"kind":"attempt","attempt":{"backend":"b","reason":"exit","skipped":false,"duration_ms":2}}`,
			Event{Kind: EventAttempt, Attempt: &Attempt{Backend: "b", Reason: ReasonExit, Duration: 2 * time.Millisecond}},
		},
		{
			"done", `{"kind":"done","response":{"text":"42","backend":"b","duration_ms":3}}`,
			Event{Kind: EventDone, Response: &Response{Text: "42", Backend: "b", Duration: 3 * time.Millisecond}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := json.Marshal(test.event)
			require.NoError(t, err)
			require.JSONEq(t, test.text, string(text))
			var back Event
			require.NoError(t, json.Unmarshal(text, &back))
			require.Equal(t, test.event, back)
		})
	}
}

// A value of the wrong type is an error, and leaves the value as it was.
func TestInvalidJSON(t *testing.T) {
	e, w := Event{Kind: EventStart}, QuotaWindow{Name: "week"}
	r, a := Response{Text: "42"}, Attempt{Backend: "b"}
	require.Error(t, json.Unmarshal([]byte(`{"kind":"done","delay_ms":"soon"}`), &e))
	require.Error(t, json.Unmarshal([]byte(`{"name":"day","length_ms":"long"}`), &w))
	require.Error(t, json.Unmarshal([]byte(`{"text":"a","duration_ms":"long"}`), &r))
	require.Error(t, json.Unmarshal([]byte(`{"reason":"exit","backend":7}`), &a))
	require.Equal(t, []any{Event{Kind: EventStart}, QuotaWindow{Name: "week"}, Response{Text: "42"}, Attempt{Backend: "b"}}, []any{e, w, r, a})
}
