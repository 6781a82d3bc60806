package judge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/resettime"
)

// Each HTTP status of an error has a reason.
func TestReasonOfStatus(t *testing.T) {
	for status, want := range map[int]call.Reason{
		0: "", 200: "", 399: "", 600: "",
		400: call.ReasonBadRequest, 418: call.ReasonBadRequest, 499: call.ReasonBadRequest,
		500: call.ReasonServerError, 502: call.ReasonServerError, 599: call.ReasonServerError,
		401: call.ReasonUnauthenticated, 402: call.ReasonBilling, 403: call.ReasonUnauthenticated,
		404: call.ReasonBadModel, 408: call.ReasonNetwork, 409: call.ReasonServerError,
		413: call.ReasonContextOverflow, 429: call.ReasonRateLimited,
		503: call.ReasonOverloaded, 529: call.ReasonOverloaded,
	} {
		require.Equal(t, want, ReasonOfStatus(status), status)
	}
}

// Errors, retries and reached limits get a reason. The other events stay as they are.
func TestClassify(t *testing.T) {
	const text = "not logged in"
	for name, test := range map[string]struct {
		event call.Event
		want  call.Reason
	}{
		"error":                  {call.Event{Kind: call.EventError, Message: text}, call.ReasonUnauthenticated},
		"unknown error":          {call.Event{Kind: call.EventError, Message: "oops"}, ""},
		"retry":                  {call.Event{Kind: call.EventRetry, Message: text}, call.ReasonUnauthenticated},
		"reached limit":          {call.Event{Kind: call.EventLimit, Failed: true}, call.ReasonUsageLimit},
		"reached limit, text":    {call.Event{Kind: call.EventLimit, Failed: true, Message: "too many requests"}, call.ReasonRateLimited},
		"limit that is near":     {call.Event{Kind: call.EventLimit, Message: text}, ""},
		"failed tool":            {call.Event{Kind: call.EventToolResult, Failed: true, Text: text}, ""},
		"text of the model":      {call.Event{Kind: call.EventText, Text: text}, ""},
		"warning":                {call.Event{Kind: call.EventWarning, Message: text}, ""},
		"failed result":          {call.Event{Kind: call.EventResult, Failed: true, Text: text}, ""},
		"result with its status": {call.Event{Kind: call.EventResult, Failed: true, Status: 429}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := SignOf(test.event)
			New(&clispec.Spec{}).Classify(&s, func() time.Time { return noon })
			require.Equal(t, test.want, s.Reason)
			require.Equal(t, test.want, s.Found.Reason)
		})
	}
}

// The time of an event stays. A time in its text is the second choice.
func TestClassifySetsRetryAfter(t *testing.T) {
	s := SignOf(call.Event{Kind: call.EventError, Message: "rate limit, retry in 2 hours"})
	New(&clispec.Spec{}).Classify(&s, func() time.Time { return noon })
	require.Equal(t, noon.Add(2*time.Hour), s.RetryAfter)
	later := noon.Add(30 * 24 * time.Hour)
	s = SignOf(call.Event{Kind: call.EventError, Message: "rate limit, retry in 2 hours", RetryAfter: later})
	New(&clispec.Spec{}).Classify(&s, func() time.Time { return noon })
	require.Equal(t, later, s.RetryAfter)
	require.Equal(t, noon.Add(resettime.Longest), s.Found.RetryAfter)
}

// The text of an event has precedence over its status, except a text that only means a server error.
func TestJudgeEvent(t *testing.T) {
	for name, test := range map[string]struct {
		event call.Event
		want  call.Reason
		ok    bool
	}{
		"text":                        {call.Event{Message: "not logged in"}, call.ReasonUnauthenticated, true},
		"status":                      {call.Event{Message: "oops", Status: 429}, call.ReasonRateLimited, true},
		"neither":                     {call.Event{Message: "oops"}, "", false},
		"status of a success":         {call.Event{Message: "oops", Status: 200}, "", false},
		"text and status":             {call.Event{Message: "prompt is too long", Status: 400}, call.ReasonContextOverflow, true},
		"server error and status":     {call.Event{Message: "internal server error", Status: 429}, call.ReasonRateLimited, true},
		"server error without status": {call.Event{Message: "internal server error"}, call.ReasonServerError, true},
		"code":                        {call.Event{Code: "rate_limit_error", Message: "oops"}, call.ReasonRateLimited, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := SignOf(test.event)
			f, ok := New(&clispec.Spec{}).JudgeEvent(&s, noon)
			require.Equal(t, test.ok, ok)
			require.Equal(t, test.want, f.Reason)
		})
	}
	known := Sign{Found: Finding{Reason: call.ReasonBilling, Message: "of a rule"}}
	known.Message = "not logged in"
	f, ok := New(&clispec.Spec{}).JudgeEvent(&known, noon)
	require.True(t, ok)
	require.Equal(t, known.Found, f, "an event that was classified")
}

// A rule of the spec has precedence over the common rules.
func TestRulesOfSpecComeFirst(t *testing.T) {
	j := New(&clispec.Spec{Lines: []clispec.LineRule{{Pattern: "not logged in", Reason: call.ReasonBilling}}})
	f, ok := j.JudgeText(clispec.OnStderr, "not logged in", noon)
	require.True(t, ok)
	require.Equal(t, call.ReasonBilling, f.Reason)
}

// The text of an error event is its code and its message.
func TestErrorText(t *testing.T) {
	for want, e := range map[string]call.Event{
		"":            {},
		"oops":        {Message: "oops"},
		"result":      {Text: "result"},
		"message":     {Message: "message", Text: "result"},
		"E7":          {Code: "E7"},
		"E7: oops":    {Code: "E7", Message: "oops"},
		"E7: in text": {Code: "E7", Text: "in text"},
	} {
		require.Equal(t, want, errorText(&e))
	}
}

// The message of a JSON error is its text, after the text before the JSON.
func TestPlainMessage(t *testing.T) {
	for text, want := range map[string]string{
		"oops":                                    "oops",
		`{"error":{"message":"oops"}}`:            "oops",
		`{"message":"oops"}`:                      "oops",
		`{"detail":"oops"}`:                       "oops",
		`API Error: 400 {"message":"oops"}`:       "API Error: 400: oops",
		`[E7] : {"message":"oops"} (request 7)`:   "E7: oops",
		`{"message":"","detail":"oops"}`:          "oops",
		`{"message":7,"detail":"oops"}`:           "oops",
		`{"code":7}`:                              `{"code":7}`,
		`{"message":""}`:                          `{"message":""}`,
		`{broken}`:                                `{broken}`,
		`} oops {`:                                `} oops {`,
		`oops {`:                                  `oops {`,
		`oops }`:                                  `oops }`,
		`{"error":{"message":"a"},"message":"b"}`: "a",
	} {
		require.Equal(t, want, plainMessage(text))
	}
}
