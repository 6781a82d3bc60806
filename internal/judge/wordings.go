package judge

import (
	"sync"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/resettime"
)

// commonLines are error messages that more than one CLI or model service uses. The rules of a spec come first.
// Services report a context overflow as a bad request, and a plan's limit as a rate limit, so special rules
// come before general ones. None of them is applied to the model's own text. They are compiled at the first
// failure, so that they do not delay the start of programs that import the library.
var commonLines = sync.OnceValue(func() LineProgram { return CompileLines(commonRules) })

var commonRules = []clispec.LineRule{
	{Reason: call.ReasonContextOverflow, Pattern: `(?i)prompt is too long|context[_ ]length[_ ]exceeded|` +
		`maximum context length|context (?:window|limit)|input is too long|` +
		`exceeds? the (?:maximum|limit of).{0,40}tokens|input token count.{0,40}exceeds`},
	{Reason: call.ReasonUsageLimit, Pattern: resetBefore(usageLimitWords)},
	{Reason: call.ReasonUsageLimit, Pattern: resetAfter(usageLimitWords)},
	{Reason: call.ReasonUsageLimit, Pattern: `(?i)(?P<reset>regain access` + resettime.Glue + resettime.Start + `[^\n]*)`},
	// A quota per minute:
	{Reason: call.ReasonRateLimited, Pattern: `(?i)exceeded your current quota(?s:.{0,400}?)` +
		`(?P<reset>\bretry (?:in|after) \d[^\n]*)`},
	{Reason: call.ReasonBilling, Pattern: `(?i)credit balance is too low|` +
		`insufficient[_ ](?:quota|credits?|balance|funds)|billing[_ ](?:hard[_ ]limit|not active|error)|` +
		`payment (?:required|method)|out of credits|exceeded your current quota|check your plan and billing`},
	// These messages come with status 429:
	{Reason: call.ReasonOverloaded, Pattern: resetAfter(`no capacity available|model_capacity_exhausted`)},
	{Reason: call.ReasonRateLimited, Pattern: resetBefore(rateLimitWords)},
	{Reason: call.ReasonRateLimited, Pattern: resetAfter(rateLimitWords)},
	{Reason: call.ReasonOverloaded, Pattern: resetAfter(`overloaded(?:_error)?\b|` +
		`model is (?:currently )?(?:overloaded|at capacity)|at capacity|experiencing high demand|` +
		`temporarily unavailable|service unavailable`)},
	{Reason: call.ReasonUnauthenticated, Pattern: `(?i)not (?:logged|signed) in|not authenticated|` +
		`please (?:log|sign) (?:in|out)|` +
		`(?:invalid|incorrect|missing|expired|revoked)[\w -]{0,20}(?:api[_ -]?key|token|credentials?)|` +
		`api[_ -]?key not valid|(?:token|session|login|api[_ -]?key) (?:has )?(?:expired|been revoked)|` +
		`authentication[_ ](?:failed|error|required)|unauthori[sz]ed\b|unauthenticated|no api key`},
	{Reason: call.ReasonBadModel, Pattern: `(?i)model[_ ]not[_ ]found|` +
		`(?:unknown|invalid|unsupported|unrecognized) model\b|` +
		`\bmodels?\b.{0,80}(?:does not exist|is not (?:found|supported|available)|not found|may not exist)|` +
		`no such model`},
	{Reason: call.ReasonUntrustedDir, Pattern: `(?i)` +
		`(?:not (?:(?:in|inside) )?(?:an? )?|un-?)trusted (?:directory|folder|workspace)|` +
		`(?:directory|folder|workspace)[\w ]{0,20} (?:is )?not trusted|workspace trust required`},
	{Reason: call.ReasonNestedSession, Pattern: `(?i)cannot be launched inside another|nested session`},
	{Pattern: `(?i)\b(?:status(?:[ _]?code)?|api error|http(?:/\d(?:\.\d)?)?|code)["']?\s*[:=]?\s*(?P<status>[45]\d\d)\b`},
	{Reason: call.ReasonBadRequest, Pattern: `(?i)\binvalid[_ ]request(?:_error)?\b|\bINVALID_ARGUMENT\b`},
	{Reason: call.ReasonNetwork, Pattern: `(?i)` +
		`\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|EPIPE)\b|` +
		`connection (?:was )?(?:refused|reset|closed|lost|error)|(?:request|connection) timed out|` +
		`self[ -]signed certificate|local issuer certificate|network (?:error|is unreachable)|fetch failed|` +
		`(?:failed|unable) to connect|cannot connect to|could not resolve|name resolution|getaddrinfo|socket hang up|` +
		`stream disconnected|error sending request`},
	{Reason: call.ReasonServerError, Pattern: `(?i)internal[_ ]server[_ ]error|\bserver_error\b|bad gateway|` +
		`gateway timeout`},
}

const (
	usageLimitWords = `spending (?:cap|limit) (?:reached|exceeded|hit)|` +
		`usage[_ ]limits?[_ ](?:has been |have been )?(?:reached|exceeded|will reset)|` +
		`(?:hit|reached|exceeded) your (?:[\w-]+ ){0,3}limit|` +
		`(?:weekly|daily|monthly|\d+[- ]hour|five[- ]hour|session|plan|message|opus|sonnet|fable) limit ` +
		`(?:reached|exceeded)|limit reached\s*[·∙•]|(?:out of|used (?:up )?(?:all )?(?:of )?your) (?:\w+ )?usage|` +
		`(?:daily|weekly|monthly) (?:\w+ )?quota|exhausted your (?:daily )?(?:quota|capacity)|quota will reset|` +
		`quota exceeded for [^\n]{0,200}per[ _]?day`
	rateLimitWords = `rate[_ -]?limit(?:s|ed|_error|_exceeded)?\b|too many requests|RESOURCE_EXHAUSTED|` +
		`resource (?:has been )?exhausted|would exceed your account|quota exceeded`
)

// resetAfter returns the pattern for messages about a limit. It also captures the end of the limit, if the text
// names it on the same line or one of the next three.
func resetAfter(words string) string {
	return `(?i)(?:` + words + `)(?:[^\n]*?(?:\n[^\n]*?){0,3}?` +
		`(?P<reset>` + resettime.Heads + resettime.Glue + resettime.Start + `[^\n]*))?`
}

// resetBefore is resetAfter for a time before the words. It has few alternatives, because the pattern is tried
// at every position of a text.
func resetBefore(words string) string {
	return `(?i)(?P<reset>(?:reset|retry|try again|wait)s?` +
		resettime.Glue + resettime.Start + `[^\n]*?)(?:` + words + `)`
}
