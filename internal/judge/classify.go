package judge

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/resettime"
	"github.com/tidwall/gjson"
)

// Finding is what a piece of evidence shows about a failure.
type Finding struct {
	Reason     call.Reason
	Message    string
	Session    string // the ID that the text names
	Hint       string
	Advice     []call.Advice
	RetryAfter time.Time
	Status     int  // HTTP status
	Try        int  // number of a retry
	Fatal      bool // LineRule.Fatal
}

// Sign is an event with the finding in its text.
type Sign struct {
	decode.Item
	Found    Finding
	OnStderr bool // from a line of stderr
	Late     bool // read after the process was asked to terminate
}

// SignOf returns the Sign of an event that was not classified.
func SignOf(e call.Event) Sign { return Sign{Item: decode.Item{Event: e}} }

// LineProgram is a list of line rules, compiled once.
type LineProgram []compiledLine

type compiledLine struct {
	clispec.LineRule
	re       *regexp.Regexp
	literals []string // one of them is in every matching text; nil: unknown
}

// CompileLines compiles rules that passed Validate. It panics for an invalid pattern. The result is immutable.
func CompileLines(rules []clispec.LineRule) LineProgram {
	p := make(LineProgram, len(rules))
	for i, r := range rules {
		p[i] = compiledLine{r, regexp.MustCompile(r.Pattern), plaintext.Literals(r.Pattern)}
	}
	return p
}

// naming returns the rules that name a kind of evidence explicitly.
func (p LineProgram) naming(on clispec.Evidence) (named LineProgram) {
	for _, line := range p {
		if slices.Contains(line.On, on) {
			named = append(named, line)
		}
	}
	return named
}

// MaxEvidence limits how much of an error text is searched, in bytes from its end, where CLIs print the cause
// of a failure.
const MaxEvidence = 32 << 10

// Find returns the finding of the first rule of the kind that matches the text. The order of the rules decides,
// not the order in the text. A finding with a reason has precedence over one without; for an error, a finding
// without a reason is ignored.
func (p LineProgram) Find(
	kind call.EventKind, on clispec.Evidence, text string, now time.Time,
) (best Finding, ok bool) {
	text = text[max(0, len(text)-MaxEvidence):]
	lower := strings.ToLower(text)
	for _, line := range p {
		if cmp.Or(line.Kind, call.EventError) != kind || !line.mayMatch(lower) ||
			len(line.On) > 0 && !slices.Contains(line.On, on) {
			continue
		}
		m := line.re.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		f := line.read(text, m, now)
		if f.Reason != "" {
			return f, true
		}
		if !ok && kind != call.EventError {
			best, ok = f, true
		}
	}
	return best, ok
}

// mayMatch returns false if the rule cannot match the text, which is given in lower case.
func (l *compiledLine) mayMatch(lower string) bool {
	return l.literals == nil || slices.ContainsFunc(l.literals, func(s string) bool { return strings.Contains(lower, s) })
}

// afterRetries returns the part of stderr after the last retry, without the indented lines that belong to the
// retry.
func (p LineProgram) afterRetries(stderr string) string {
	var b strings.Builder
	trace := false
	for line := range strings.Lines(stderr) {
		if p.says(call.EventRetry, line) {
			b.Reset()
			trace = true
			continue
		}
		if trace = trace && strings.HasPrefix(line, " "); !trace && !p.says(call.EventStatus, line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// says reports whether a rule of that kind matches the line.
func (p LineProgram) says(kind call.EventKind, line string) bool {
	return slices.ContainsFunc(p, func(l compiledLine) bool { return l.Kind == kind && l.re.MatchString(line) })
}

// relevant removes lines of stderr that explain nothing: status lines and, after a successful retry of the CLI,
// the lines about its failed attempts.
func (p LineProgram) relevant(stderr string, recovered bool) string {
	var b strings.Builder
	trace := false // inside the indented lines after a retry
	for line := range strings.Lines(stderr) {
		trace = recovered && (p.says(call.EventRetry, line) || trace && strings.HasPrefix(line, " "))
		if !trace && !p.says(call.EventStatus, line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// read returns the finding of one match.
func (l *compiledLine) read(text string, m []int, now time.Time) Finding {
	group := func(name string) string {
		if i := l.re.SubexpIndex(name); i > 0 && m[2*i] >= 0 {
			return text[m[2*i]:m[2*i+1]]
		}
		return ""
	}
	status, _ := strconv.Atoi(group("status"))
	try, _ := strconv.Atoi(group("attempt"))
	var common Finding
	if l.Reason == "" && group("message") != "" {
		common, _ = commonLines().Find(call.EventError, clispec.OnEvent, group("message"), now)
		// The time may be in a line below the message.
		if below, _ := commonLines().Find(call.EventError, clispec.OnEvent, text[m[0]:], now); below.Reason == common.Reason {
			common.RetryAfter = cmp.Or(common.RetryAfter, below.RetryAfter)
		}
	}
	filled := func(placeholder string) string { return group(strings.Trim(placeholder, "{}")) }
	f := Finding{
		Reason: cmp.Or(l.Reason, common.Reason, ReasonOfStatus(status)),
		Hint:   grammar.Placeholder().ReplaceAllStringFunc(l.Hint, filled),
		Status: status, Try: try, Fatal: l.Fatal, RetryAfter: common.RetryAfter,
		Message: plainMessage(cmp.Or(group("message"), lineAround(text, m[0], m[1]))),
		Session: strings.Clone(group("session")),
	}
	if name := group("variable"); name != "" && f.Hint == "" {
		f.Advice = []call.Advice{{Action: call.ActionPass, Field: "config.pass_env", Value: strings.Clone(name)}}
	}
	if reset := cmp.Or(group("reset"), group("delay")); reset != "" {
		f.RetryAfter = resettime.Read(reset, now)
	}
	if f.RetryAfter.IsZero() && l.CooldownS > 0 {
		f.RetryAfter = now.Add(time.Duration(l.CooldownS) * time.Second)
	}
	return f
}

// lineAround returns the line of text that contains the match.
func lineAround(text string, from, to int) string {
	from = strings.LastIndexByte(text[:from], '\n') + 1
	if end := strings.IndexByte(text[to:], '\n'); end >= 0 {
		return text[from : to+end]
	}
	return text[from:]
}

// statusReasons are the reasons of HTTP statuses, as the model services use them. Any other 4xx status is a bad
// request, any other 5xx status a server error.
var statusReasons = map[int]call.Reason{
	401: call.ReasonUnauthenticated,
	402: call.ReasonBilling,
	403: call.ReasonUnauthenticated,
	404: call.ReasonBadModel,
	408: call.ReasonNetwork,
	409: call.ReasonServerError,
	413: call.ReasonContextOverflow,
	429: call.ReasonRateLimited,
	503: call.ReasonOverloaded,
	529: call.ReasonOverloaded,
}

// ReasonOfStatus returns the reason of an HTTP status, or "" for a status that is not an error.
func ReasonOfStatus(status int) call.Reason {
	if r, ok := statusReasons[status]; ok {
		return r
	}
	switch {
	case status >= 500 && status <= 599:
		return call.ReasonServerError
	case status >= 400 && status <= 499:
		return call.ReasonBadRequest
	}
	return ""
}

// Classify sets the reason of an error, a retry or a reached limit, and when the backend is available again.
// Other events, which are nearly all, stay unchanged and need no clock.
func (j *Judge) Classify(e *Sign, now func() time.Time) {
	if e.Kind != call.EventError && e.Kind != call.EventRetry && (e.Kind != call.EventLimit || !e.Failed) {
		return
	}
	e.Found, _ = j.JudgeEvent(e, now())
	if e.Kind == call.EventLimit {
		e.Found.Reason = cmp.Or(e.Found.Reason, call.ReasonUsageLimit)
	}
	e.Reason = e.Found.Reason
	if e.RetryAfter.IsZero() {
		e.RetryAfter = e.Found.RetryAfter
	}
}

// JudgeEvent classifies an error, retry or failed result event. Its text has precedence over its status,
// because a 400 may be a context overflow, and a 429 the limit of a plan.
func (j *Judge) JudgeEvent(e *Sign, now time.Time) (Finding, bool) {
	if e.Found.Reason != "" {
		return e.Found, true
	}
	text := errorText(&e.Event)
	f, ok := j.JudgeText(clispec.OnEvent, text, now)
	if r := ReasonOfStatus(e.Status); r != "" && (!ok || f.Reason == call.ReasonServerError) {
		f, ok = Finding{Reason: r}, true
	}
	f.Message = plainMessage(text)
	if f.RetryAfter.IsZero() && serviceDelay(&e.Event) {
		f.RetryAfter = now.Add(e.Delay)
	}
	if !e.RetryAfter.IsZero() {
		f.RetryAfter = resettime.Clamp(e.RetryAfter, now)
	}
	return f, ok
}

// serviceDelay reports whether the delay comes from the service. A delay up to the CLI's own doubling back-off
// may be that back-off.
func serviceDelay(e *call.Event) bool {
	pause := 2 * time.Second << min(max(e.Try-1, 0), 10)
	return e.Kind == call.EventError && e.Delay > 0 || e.Kind == call.EventRetry && e.Delay > pause
}

// errorText returns the code and the message of an error event as one text.
func errorText(e *call.Event) string {
	message := cmp.Or(e.Message, e.Text)
	if e.Code == "" || message == "" {
		return cmp.Or(e.Code, message)
	}
	return e.Code + ": " + message
}

// plainMessage returns the readable part of an error text. Services respond with JSON, which CLIs print
// unchanged.
func plainMessage(text string) string {
	if start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); start >= 0 && start < end {
		if object, ok := jsontext.ParseObject([]byte(text[start : end+1])); ok {
			for _, path := range []string{"error.message", "message", "detail"} {
				if message := object.Get(path); message.Type == gjson.String && message.Str != "" {
					return strings.TrimPrefix(strings.Trim(text[:start], " :[]")+": "+message.Str, ": ")
				}
			}
		}
	}
	return text
}

// JudgeText classifies an error text with the rules of the spec, then with the common rules. ok is false if no
// rule matches.
func (j *Judge) JudgeText(on clispec.Evidence, text string, now time.Time) (Finding, bool) {
	if f, ok := j.Lines.Find(call.EventError, on, text, now); ok {
		return f, true
	}
	return commonLines().Find(call.EventError, on, text, now)
}
