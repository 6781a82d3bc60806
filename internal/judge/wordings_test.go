package judge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// The common rules find the reason of a message, and the end of a limit.
func TestCommonWordings(t *testing.T) {
	for text, test := range map[string]struct {
		want call.Reason
		in   time.Duration // 0: the text has no time
	}{
		"Prompt is too long":                                       {call.ReasonContextOverflow, 0},
		"context_length_exceeded":                                  {call.ReasonContextOverflow, 0},
		"You have hit your weekly limit, retry in 2 hours":         {call.ReasonUsageLimit, 2 * time.Hour},
		"Resets in 3 hours: usage limit reached":                   {call.ReasonUsageLimit, 3 * time.Hour},
		"usage limit reached\nfor this plan\n\nretry in 2 hours":   {call.ReasonUsageLimit, 2 * time.Hour},
		"You will regain access in 2 hours":                        {call.ReasonUsageLimit, 2 * time.Hour},
		"You exceeded your current quota. Please retry in 30s.":    {call.ReasonRateLimited, 30 * time.Second},
		"You exceeded your current quota":                          {call.ReasonBilling, 0},
		"Your credit balance is too low":                           {call.ReasonBilling, 0},
		"429: no capacity available":                               {call.ReasonOverloaded, 0},
		"Retry in 20s: too many requests":                          {call.ReasonRateLimited, 20 * time.Second},
		"too many requests, retry in 20s":                          {call.ReasonRateLimited, 20 * time.Second},
		"RESOURCE_EXHAUSTED":                                       {call.ReasonRateLimited, 0},
		"overloaded_error":                                         {call.ReasonOverloaded, 0},
		"Service unavailable, try again in 5 minutes":              {call.ReasonOverloaded, 5 * time.Minute},
		"You are not logged in":                                    {call.ReasonUnauthenticated, 0},
		"Invalid API key":                                          {call.ReasonUnauthenticated, 0},
		"model_not_found":                                          {call.ReasonBadModel, 0},
		"The model gpt-0 does not exist":                           {call.ReasonBadModel, 0},
		"Not inside a trusted directory":                           {call.ReasonUntrustedDir, 0},
		"lumen cannot be launched inside another lumen":            {call.ReasonNestedSession, 0},
		"API Error: 502":                                           {call.ReasonServerError, 0},
		"status code 418":                                          {call.ReasonBadRequest, 0},
		"invalid_request_error":                                    {call.ReasonBadRequest, 0},
		"connect ECONNREFUSED":                                     {call.ReasonNetwork, 0},
		"Internal server error":                                    {call.ReasonServerError, 0},
		"the weather is fine":                                      {"", 0},
		"the status of line 418":                                   {"", 0},
		"400 invalid_request_error: prompt is too long":            {call.ReasonContextOverflow, 0},
		"429 rate_limit_error: usage limit reached":                {call.ReasonUsageLimit, 0},
		"connection error: HTTP 401":                               {call.ReasonUnauthenticated, 0},
		"too many requests\n1\n2\n3\n4\nretry in 20s for the next": {call.ReasonRateLimited, 0},
	} {
		t.Run(text, func(t *testing.T) {
			f, ok := New(&clispec.Spec{}).JudgeText(clispec.OnStderr, text, noon)
			require.Equal(t, test.want != "", ok)
			require.Equal(t, test.want, f.Reason)
			if test.in > 0 {
				require.Equal(t, noon.Add(test.in), f.RetryAfter)
			} else {
				require.Zero(t, f.RetryAfter)
			}
		})
	}
}
