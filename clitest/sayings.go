package clitest

import "github.com/clichain/clichain/call"

// sayings lists messages of failing services and CLIs by the Reason that they imply.
var sayings = map[call.Reason][]string{
	call.ReasonUnauthenticated: {
		"Not logged in · Please run /login", "401 Unauthorized", "API Error: 401", "invalid x-api-key",
		"Incorrect API key provided: sk-***", "OAuth token has expired", "HTTP 403 Forbidden", "No API key found",
	},
	call.ReasonRateLimited: {
		"429 Too Many Requests", "API Error: 429", "rate_limit_error: slow down", "status: RESOURCE_EXHAUSTED",
		"Rate limit reached for this model. Please try again in 20s.",
	},
	call.ReasonUsageLimit: {
		"You've hit your limit · resets 2pm (Asia/Shanghai)", "5-hour limit reached ∙ resets 7pm",
		"You have exhausted your daily quota on this model.",
		"You've hit your usage limit. Upgrade to Pro or try again in 2 days 17 hours 14 minutes.",
	},
	call.ReasonBilling: {"Your credit balance is too low", "insufficient_quota", "API Error: 402"},
	call.ReasonOverloaded: {
		"API Error: 529", "overloaded_error: Overloaded", "503 Service Unavailable", "Selected model is at capacity",
	},
	call.ReasonServerError: {"API Error: 500", "Internal Server Error", "502 Bad Gateway"},
	call.ReasonNetwork: {
		"connect ECONNREFUSED 127.0.0.1:443", "getaddrinfo ENOTFOUND api.example.com", "fetch failed", "Request timed out.",
	},
	call.ReasonBadModel: {
		"The model `gpt-9` does not exist or you do not have access to it.", "Unknown model: x", "API Error: 404",
	},
	call.ReasonContextOverflow: {
		"prompt is too long: 210000 tokens > 200000 maximum", "context_length_exceeded", "API Error: 413",
	},
	call.ReasonBadRequest: {"API Error: 400"},
}

// statuses maps HTTP statuses to the Reason that they imply.
var statuses = map[int]call.Reason{
	400: call.ReasonBadRequest, 401: call.ReasonUnauthenticated, 402: call.ReasonBilling, 403: call.ReasonUnauthenticated,
	404: call.ReasonBadModel, 413: call.ReasonContextOverflow, 429: call.ReasonRateLimited, 500: call.ReasonServerError,
	502: call.ReasonServerError, 503: call.ReasonOverloaded, 529: call.ReasonOverloaded,
}
