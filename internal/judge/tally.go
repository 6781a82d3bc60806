package judge

import (
	"cmp"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/resettime"
)

// Tally collects what the events of one run say. It does no I/O, so a recorded
// stream gives the same result as a live one. The zero value is ready to use, by
// one goroutine at a time.
type Tally struct {
	Answer clispec.AnswerMode

	Session, Model, KeySource string
	Terminal                  *Sign  // the last answer, else the first failure
	Failures                  []Sign // error events, oldest first
	retry                     *Sign  // what the CLI is trying again right now
	recovered                 bool   // a retry of the CLI went well
	limit                     *Sign  // the limit that was hit and not got over
	Fatal                     *Finding
	usage                     call.Usage // sum of the steps
	Tools                     int
	turn                      bool // the model has begun to answer
	known                     bool // there was an event that a rule knows
	thinking                  bool // pieces of a block of thinking have come
	Warnings                  []string
	Flags                     []call.Flag

	before strings.Builder // text before the last tool use
	text   strings.Builder // text since
	open   bool            // the last block came in deltas and has not come as a whole yet
	blocks int             // whole blocks in text
	last   int             // where the last block begins in text

	kept     string // text before the open block
	keptLast int    // last, before it

	given string // the answer before the text, if next
	next  bool   // the CLI has begun another answer after it
	done  bool   // the CLI has given an answer that is not empty
}

// Add takes an event and returns what to pass on to the caller: the event, a
// changed copy of it, such as the part of a block that did not come in deltas, or
// nil for nothing. An event is large, so most are not copied.
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
		return nil // TakeBack has seen to it
	case call.EventToolResult:
		t.Tools = max(t.Tools, 1) // its start may not have been shown
	case call.EventToolUse:
		t.Tools++
		t.before.WriteString(t.text.String())
		t.text.Reset()
		t.open = false // a block that is not closed before a tool never is
		t.blocks, t.last = 0, 0
	case call.EventSession:
		t.Model = cmp.Or(e.Model, t.Model)
	case call.EventUsage:
		t.usage = t.usage.Add(e.Usage)
	case call.EventResult:
		t.Model = cmp.Or(t.Model, e.Model)
		if t.usage == (call.Usage{}) {
			t.usage = e.Usage // for a run that clichain ended, where this is not the terminal event
		}
	case call.EventRetry:
		t.retry = new(*e)
	case call.EventLimit:
		if t.limit = nil; e.Failed { // else the request passed
			t.limit = new(*e)
		}
	case call.EventWarning:
		t.Warn(e.Message)
	case call.EventError:
		t.Failures = append(t.Failures, *e)
	}
	t.Session, t.KeySource = cmp.Or(e.Session, t.Session), cmp.Or(e.KeySource, t.KeySource)
	if e.Terminal && (t.Terminal == nil || e.answers()) {
		t.Terminal, t.next = new(*e), false
		t.done = e.answers() && strings.TrimSpace(t.AnswerText()) != ""
	}
	return &e.Event
}

// answers reports whether the event is an answer, if it is terminal.
func (e *Sign) answers() bool { return e.Kind == call.EventResult && !e.Failed }

// addDelta takes a piece of text. The first piece of another block begins with
// the separator, so that the pieces joined are the answer.
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

// Progress reports whether the event shows that a retry of the CLI went well.
func Progress(e *call.Event) bool {
	switch e.Kind {
	case call.EventDelta, call.EventText, call.EventThinking, call.EventToolUse:
		return true
	case call.EventResult:
		return !e.Failed
	}
	return false
}

// begin starts a block of text and returns the separator from the one before.
func (t *Tally) begin() (separator string) {
	if t.Answer == clispec.AnswerLastBlock && t.blocks > 0 {
		t.text.Reset()
	} else if t.blocks > 0 {
		separator = "\n\n"
	}
	t.last = t.text.Len() + len(separator)
	return separator
}

// addBlock takes a whole block of text. CLIs that send deltas send the same text
// again as a block, of which only what the deltas lacked is passed on. Like the
// deltas, a block begins with the separator from the one before.
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

// say adds to the text what an event says behind a separator, and returns the event that says both. To append alone
// would make room for a quarter more each time, and copy a long answer five times.
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

// Warn adds a warning for the caller as one line; all beyond the 20th are dropped.
func (t *Tally) Warn(message string) {
	const maxWarnings = 20
	if message != "" && len(t.Warnings) < maxWarnings {
		t.Warnings = append(t.Warnings, plaintext.OneLine(message))
	}
}

// mark flags an answer that may differ from what was asked for.
func (t *Tally) mark(flag call.Flag, warning string) {
	t.Flags = append(t.Flags, flag)
	t.Warn(warning)
}

// AnswerText is the text of the result, else the text since the last tool use:
// text before a tool is a remark on the work. A result that repeats only the last
// of several blocks does not replace them. Text after it is of another answer,
// which counts when it has a result of its own.
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

// partial is the text of a run that ended before its answer was complete.
func (t *Tally) partial() string {
	if text := t.AnswerText(); strings.TrimSpace(text) != "" {
		return text
	}
	if t.Terminal != nil && t.Terminal.Partial && strings.TrimSpace(t.Terminal.Text) != "" {
		return t.Terminal.Text
	}
	return t.before.String()
}

// limitEnd is when a limit ends, for which an error text gave the time parsed. The
// event of the limit that was hit is more exact, as texts may lack the seconds,
// the day or the zone. The end of a limit that was not hit says nothing.
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

// Total is the usage of the terminal event where it has one, else the sum of the
// steps.
func (t *Tally) Total() call.Usage {
	if t.Terminal != nil && t.Terminal.Usage != (call.Usage{}) {
		return t.Terminal.Usage
	}
	return t.usage
}

// Commentary separates an agent's remarks on its work from its answer, where a
// CLI prints both as text. Text followed by a tool or by another block of text is
// a remark, so text is held back until the next event; remarks are passed on as
// thinking. The text that remains is what Tally.AnswerText is with
// AnswerLastBlock. The zero value is ready to use, by one goroutine at a time.
type Commentary struct{ held []call.Event }

// Add takes an event and returns those to pass on now. Events that do not decide
// about the held text are passed on before it.
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

// End releases the held text, as text if it is the answer, else as thinking. A
// run that failed has no answer; its error carries the text.
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
