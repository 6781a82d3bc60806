package judge

import (
	"cmp"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/resettime"
	"github.com/clichain/clichain/quota"
)

// Tally accumulates the events of one run. It does no I/O, so a recorded stream gives the same result as a live
// one. The zero value is ready to use, by one goroutine at a time.
type Tally struct {
	Answer clispec.AnswerMode

	Session, Model, KeySource string
	Terminal                  *Sign  // the last answer, or else the first failure
	Failures                  []Sign // error events, oldest first
	retry                     *Sign  // the failure that the CLI is retrying
	recovered                 bool   // a retry of the CLI succeeded
	limit                     *Sign  // a reached limit from which the CLI has not recovered
	Fatal                     *Finding
	usage                     call.Usage // sum of the steps
	Tools                     int
	turn                      bool // the model has begun to answer
	known                     bool // a rule matched an event
	thinking                  bool // deltas of a thinking block have arrived
	Quota                     []call.QuotaWindow
	Warnings                  []string
	Flags                     []call.Flag

	before strings.Builder // text before the last tool use
	text   strings.Builder // text since
	open   bool            // the last block arrived in deltas, and not yet as a whole
	blocks int             // whole blocks in text
	last   int             // offset of the last block in text

	kept     string // text before the open block
	keptLast int    // the value of last before the open block

	given string // the answer before text, if next is set
	next  bool   // the CLI has begun another answer after given
	done  bool   // the CLI has given a non-empty answer
}

// Add records an event and returns the event to deliver to the caller: the event itself, a modified copy, or
// nil. A copy may contain only the part of a block that was missing in the deltas. An event is large, so most
// events are not copied.
func (t *Tally) Add(e *Sign) (out *call.Event) {
	t.known = t.known || e.Kind != call.EventRaw
	t.turn = t.turn || ofTurn(&e.Event)
	if Progress(&e.Event) {
		t.recovered = t.recovered || t.retry != nil
		t.retry, t.limit = nil, nil
	}
	switch e.Kind {
	case call.EventDelta:
		return t.addDelta(&e.Event)
	case call.EventText:
		return t.addBlock(&e.Event)
	case call.EventThinking:
		twice := e.Whole && t.thinking
		if t.thinking = !e.Whole; e.Text == "" || twice {
			return nil
		}
		return &e.Event
	case call.EventReset:
		return nil // TakeBack has processed it
	case call.EventToolResult:
		t.Tools = max(t.Tools, 1) // the start of the tool may not have been shown
	case call.EventToolUse:
		t.Tools++
		t.before.WriteString(t.text.String())
		t.text.Reset()
		t.open = false // a block that is open before a tool use is never closed
		t.blocks, t.last = 0, 0
	case call.EventSession:
		t.Model = cmp.Or(e.Model, t.Model)
	case call.EventUsage:
		t.usage = t.usage.Add(e.Usage)
	case call.EventResult:
		t.Model = cmp.Or(t.Model, e.Model)
		if t.usage == (call.Usage{}) {
			t.usage = e.Usage // for a run that clichain stopped before the terminal event
		}
	case call.EventRetry:
		t.retry = new(*e)
	case call.EventLimit:
		if len(e.Quota) > 0 {
			t.Quota = quota.Merge(t.Quota, e.Quota)
		}
		if t.limit = nil; e.Failed { // otherwise the request was allowed
			t.limit = new(*e)
		}
	case call.EventWarning:
		t.Warn(e.Message)
	case call.EventError:
		t.Failures = append(t.Failures, *e)
	}
	t.Session, t.KeySource = cmp.Or(e.Session, t.Session, e.Found.Session), cmp.Or(e.KeySource, t.KeySource)
	if e.Terminal && (t.Terminal == nil || e.answers()) {
		t.Terminal, t.next = new(*e), false
		t.done = e.answers() && strings.TrimSpace(t.AnswerText()) != ""
	}
	return &e.Event
}

// answers reports whether a terminal event is an answer.
func (e *Sign) answers() bool { return e.Kind == call.EventResult && !e.Failed }

// addDelta records a piece of text. The first delta of another block begins with the separator, so that the
// joined deltas are the answer.
func (t *Tally) addDelta(e *call.Event) (out *call.Event) {
	if e.Text == "" {
		return nil
	}
	separator := ""
	if !t.open {
		t.kept, t.keptLast = t.text.String(), t.last
		separator = t.begin()
		t.open = true
	}
	return t.say(separator, e)
}

// Progress reports whether the event shows that a retry of the CLI succeeded.
func Progress(e *call.Event) bool {
	switch e.Kind {
	case call.EventDelta, call.EventText, call.EventThinking, call.EventToolUse:
		return true
	case call.EventResult:
		return !e.Failed
	}
	return false
}

// begin starts a block of text and returns the separator from the previous block.
func (t *Tally) begin() (separator string) {
	if t.Answer == clispec.AnswerLastBlock && t.blocks > 0 {
		t.text.Reset()
	} else if t.blocks > 0 {
		separator = "\n\n"
	}
	t.last = t.text.Len() + len(separator)
	return separator
}

// addBlock records a whole block of text. CLIs that send deltas send the same text again as a block, of which
// only the part missing in the deltas is delivered. Like deltas, a block begins with the separator from the
// previous block.
func (t *Tally) addBlock(e *call.Event) (out *call.Event) {
	if t.open {
		t.blocks++
		rest, ok := strings.CutPrefix(e.Text, t.lastBlock())
		t.open = false
		if !ok || rest == "" {
			return nil
		}
		return t.say("", &call.Event{Kind: call.EventDelta, Backend: e.Backend, Text: rest})
	}
	if e.Text == "" {
		return nil
	}
	separator := t.begin()
	t.blocks++
	return t.say(separator, e)
}

// say appends the separator and the text of an event, and returns the event for both. Without Grow, the buffer
// would grow by only a quarter each time, and a long answer would be copied five times.
func (t *Tally) say(separator string, e *call.Event) (out *call.Event) {
	if separator != "" {
		joined := *e
		joined.Text = separator + e.Text
		e = &joined
	}
	t.text.Grow(len(e.Text))
	t.text.WriteString(e.Text)
	return e
}

// Warn adds a warning for the caller as one line. It drops warnings after the 20th.
func (t *Tally) Warn(message string) {
	const maxWarnings = 20
	if message != "" && len(t.Warnings) < maxWarnings {
		t.Warnings = append(t.Warnings, plaintext.OneLine(message))
	}
}

// mark flags an answer that may differ from the requested form.
func (t *Tally) mark(flag call.Flag, warning string) {
	t.Flags = append(t.Flags, flag)
	t.Warn(warning)
}

// AnswerText returns the text of the result or, without one, the text since the last tool use, because text
// before a tool use is a remark. A result that repeats only the last of several blocks does not replace them.
// Text after the result belongs to another answer, which counts if it has its own result.
func (t *Tally) AnswerText() string {
	text, last := t.text.String(), t.Terminal
	if t.next {
		return t.given
	}
	if !t.succeeded() || last.Text == "" {
		return text
	}
	if !last.Whole && strings.TrimSpace(last.Text) == strings.TrimSpace(t.lastBlock()) {
		return text
	}
	return last.Text
}

func (t *Tally) lastBlock() string { return t.text.String()[t.last:] }

// partial returns the text of a run that ended before its answer was complete.
func (t *Tally) partial() string {
	if text := t.AnswerText(); strings.TrimSpace(text) != "" {
		return text
	}
	if t.Terminal != nil && t.Terminal.Partial && strings.TrimSpace(t.Terminal.Text) != "" {
		return t.Terminal.Text
	}
	return t.before.String()
}

// limitEnd returns when a limit ends; parsed is the time in an error text. The event of the reached limit is
// more exact, because texts may lack the seconds, the day or the time zone. The end of a limit that was not
// reached is ignored.
func (t *Tally) limitEnd(parsed, now time.Time) time.Time {
	if t.limit == nil || t.limit.RetryAfter.IsZero() {
		return parsed
	}
	return resettime.Clamp(t.limit.RetryAfter, now)
}

// succeeded reports whether the terminal event is an answer.
func (t *Tally) succeeded() bool {
	return t.Terminal != nil && t.Terminal.answers()
}

// Total returns the usage of the terminal event if it has one, else the sum of the steps.
func (t *Tally) Total() call.Usage {
	if t.Terminal != nil && t.Terminal.Usage != (call.Usage{}) {
		return t.Terminal.Usage
	}
	return t.usage
}

// Commentary separates an agent's remarks on its work from its answer, for a CLI that prints both as text. Text
// followed by a tool use or by another block of text is a remark, so text is withheld until the next event.
// Remarks are delivered as thinking. The text that remains equals Tally.AnswerText with AnswerLastBlock. The
// zero value is ready to use, by one goroutine at a time.
type Commentary struct{ held []call.Event }

// Add records an event and returns the events to deliver now. Events that do not classify the withheld text are
// delivered before it.
func (c *Commentary) Add(e call.Event) []call.Event {
	switch {
	case e.Kind == call.EventDelta:
		c.held = append(c.held, e)
		return nil
	case e.Kind == call.EventText:
		out := c.End(false)
		c.held = append(c.held, e)
		return out
	case e.Kind == call.EventToolUse:
		return append(c.End(false), e)
	case e.Kind == call.EventResult && !e.Failed:
		return append(c.End(true), e)
	}
	return []call.Event{e}
}

// End releases the withheld text, as text if it is the answer, else as thinking. A failed run has no answer;
// its error contains the text.
func (c *Commentary) End(answer bool) []call.Event {
	out := c.held
	c.held = nil
	if !answer {
		for i := range out {
			out[i].Kind = call.EventThinking
		}
	}
	return out
}
