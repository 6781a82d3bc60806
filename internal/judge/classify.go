package judge

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/resettime"
)

// Finding is what a piece of evidence says about a failure.
type Finding struct {
	Reason     call.Reason
	Message    string
	Hint       string
	RetryAfter time.Time
	Status     int  // HTTP status
	Try        int  // number of a retry
	Fatal      bool // LineRule.Fatal
}

// Sign is an event, and what its words were taken for.
type Sign struct {
	decode.Item
	Found Finding
}

// SignOf is an event of which nothing more is known.
func SignOf(e call.Event) Sign { return Sign{Item: decode.Item{Event: e}} }

// lineProgram is a list of line rules, compiled once.
type lineProgram []compiledLine

type compiledLine struct {
	clispec.LineRule
	re       *regexp.Regexp
	literals []string // one of them is in every text that matches; nil: unknown
}

// CompileLines needs rules that passed Validate.
func CompileLines(rules []clispec.LineRule) lineProgram {
	p := make(lineProgram, len(rules))
	for i, r := range rules {
		p[i] = compiledLine{r, regexp.MustCompile(r.Pattern), plaintext.Literals(r.Pattern)}
	}
	return p
}

// MaxEvidence bounds how much of an error text is searched, from its end:
// failures explain themselves last.
const MaxEvidence = 32 << 10

// Find returns what the first rule of a kind that matches the text says. Rules
// are in order of trust, so the order of the rules decides, not of the text. A
// rule that knows the reason wins over one that does not; an error needs one.
func (p lineProgram) Find(kind call.EventKind, on clispec.Evidence, text string, now time.Time) (best Finding, ok bool) {
	text = text[max(0, len(text)-MaxEvidence):]
	lower := strings.ToLower(text)
	for _, line := range p {
		if cmp.Or(line.Kind, call.EventError) != kind || len(line.On) > 0 && !slices.Contains(line.On, on) || !line.mayMatch(lower) {
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

// mayMatch is false when the rule cannot match the text, given in lower case.
func (l *compiledLine) mayMatch(lower string) bool {
	return l.literals == nil || slices.ContainsFunc(l.literals, func(s string) bool { return strings.Contains(lower, s) })
}

// telling drops the lines of stderr that explain nothing. What was said of
// tries that failed is such a thing once a later try went well.
func (p lineProgram) telling(stderr string, gotOver bool) string {
	says := func(kind call.EventKind, line string) bool {
		return slices.ContainsFunc(p, func(l compiledLine) bool { return l.Kind == kind && l.re.MatchString(line) })
	}
	var b strings.Builder
	trace := false // in the indented lines that belong to a try
	for line := range strings.Lines(stderr) {
		trace = gotOver && (says(call.EventRetry, line) || trace && strings.HasPrefix(line, " "))
		if !trace && !says(call.EventStatus, line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// read makes the finding of one match.
func (l *compiledLine) read(text string, m []int, now time.Time) Finding {
	group := func(name string) string {
		if i := l.re.SubexpIndex(name); i > 0 && m[2*i] >= 0 {
			return text[m[2*i]:m[2*i+1]]
		}
		return ""
	}
	status, _ := strconv.Atoi(group("status"))
	try, _ := strconv.Atoi(group("attempt"))
	var words Finding
	if l.Reason == "" && group("message") != "" {
		words, _ = commonLines.Find(call.EventError, clispec.OnEvent, group("message"), now)
	}
	f := Finding{
		Reason: cmp.Or(l.Reason, words.Reason, ReasonOfStatus(status)),
		Status: status, Try: try, Fatal: l.Fatal, RetryAfter: words.RetryAfter,
		Message: plainMessage(cmp.Or(group("message"), lineAround(text, m[0], m[1]))),
		Hint:    l.Hint,
	}
	if reset := cmp.Or(group("reset"), group("delay")); reset != "" {
		f.RetryAfter = resettime.Read(reset, now)
	}
	return f
}

// lineAround is the line of text that holds the match.
func lineAround(text string, from, to int) string {
	for from > 0 && text[from-1] != '\n' {
		from--
	}
	for to < len(text) && text[to] != '\n' {
		to++
	}
	return text[from:to]
}

// statusReasons gives HTTP statuses their meaning, as the model services use
// them; the rest of the 4xx are the request's fault, the rest of the 5xx the
// server's.
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

// ReasonOfStatus is empty for what is no error status.
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

// Classify says of an error, a retry or a limit that was hit which it is.
func (j *Judge) Classify(e *Sign, now time.Time) {
	switch {
	case e.Kind == call.EventError, e.Kind == call.EventRetry, e.Kind == call.EventLimit && e.Failed:
	default:
		return
	}
	e.Found, _ = j.JudgeEvent(e, now)
	if e.Kind == call.EventLimit {
		e.Found.Reason = cmp.Or(e.Found.Reason, call.ReasonUsageLimit)
	}
	e.Reason = e.Found.Reason
	if e.RetryAfter.IsZero() {
		e.RetryAfter = e.Found.RetryAfter
	}
}

// JudgeEvent classifies an error, retry or failed result event. Words come
// before the status: a 400 may be an overflow, a 429 the plan's limit.
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
	if toldDelay(&e.Event) && f.RetryAfter.IsZero() {
		f.RetryAfter = now.Add(e.Delay)
	}
	if !e.RetryAfter.IsZero() {
		f.RetryAfter = resettime.Clamp(e.RetryAfter, now)
	}
	return f, ok
}

// toldDelay reports whether the service told how long to wait. What is no more
// than the CLI's own doubling pause before its next try says nothing of that.
func toldDelay(e *call.Event) bool {
	pause := 2 * time.Second << min(max(e.Try-1, 0), 10)
	return e.Kind == call.EventError && e.Delay > 0 || e.Kind == call.EventRetry && e.Delay > pause
}

// errorText is an error event as one text to judge.
func errorText(e *call.Event) string {
	message := cmp.Or(e.Message, e.Text)
	if e.Code == "" || message == "" {
		return cmp.Or(e.Code, message)
	}
	return e.Code + ": " + message
}

// plainMessage is what a person should read of an error text: services answer
// with JSON, and CLIs print it as it is.
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

// JudgeText classifies an error text by the spec's rules, then the common ones.
func (j *Judge) JudgeText(on clispec.Evidence, text string, now time.Time) (Finding, bool) {
	if f, ok := j.Lines.Find(call.EventError, on, text, now); ok {
		return f, true
	}
	return commonLines.Find(call.EventError, on, text, now)
}
