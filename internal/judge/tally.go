package judge

import (
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/resettime"
)

// Tally is what the events of one run add up to. It does no I/O, so a recorded
// stream gives the same result as a live one.
type Tally struct {
	Answer clispec.AnswerMode

	Session, Model, KeySource string
	Terminal                  *Sign  // the last one wins
	Failures                  []Sign // error events, oldest first
	retry                     *Sign  // what the CLI is trying again right now
	overcame                  bool   // it tried again, and got on
	limit                     *Sign  // the latest limit event
	Fatal                     *Finding
	usage                     call.Usage // sum of the steps
	Tools                     int
	known                     bool // there was an event that a rule knows
	thinking                  bool // pieces of a block of thinking have come
	Warnings                  []string
	Flags                     []call.Flag

	before  strings.Builder // text before the last tool use
	text    strings.Builder // text since
	pending strings.Builder // deltas of a block that has not come as a whole yet
	blocks  int             // whole blocks in text
	last    int             // where the last block begins in it
}

// Add takes an event and returns what a reader of the stream should see: the
// event, the part of a block that did not come in deltas, or nothing.
func (t *Tally) Add(e *Sign) (call.Event, bool) {
	t.known = t.known || e.Kind != call.EventRaw
	if t.retry != nil && Progress(&e.Event) {
		t.retry, t.overcame = nil, true
	}
	switch e.Kind {
	case call.EventDelta:
		return t.addDelta(e.Event)
	case call.EventText:
		return t.addBlock(e.Event)
	case call.EventThinking:
		twice := e.Whole && t.thinking
		t.thinking = !e.Whole
		return e.Event, e.Text != "" && !twice
	case call.EventToolUse:
		t.Tools++
		t.before.WriteString(t.text.String())
		t.text.Reset()
		t.pending.Reset() // a block that is not closed by now never will be
		t.blocks, t.last = 0, 0
	case call.EventSession:
		t.Session, t.Model, t.KeySource = orOld(e.Session, t.Session), orOld(e.Model, t.Model), orOld(e.KeySource, t.KeySource)
	case call.EventUsage:
		t.usage = t.usage.Add(e.Usage)
	case call.EventResult:
		if t.usage == (call.Usage{}) {
			t.usage = e.Usage // for a run that we ended: this is no last word then
		}
	case call.EventRetry:
		t.retry = new(*e)
	case call.EventLimit:
		t.limit = new(*e)
	case call.EventWarning:
		t.Warn(e.Message)
	case call.EventError:
		t.Failures = append(t.Failures, *e)
	}
	t.Session = orOld(e.Session, t.Session)
	if e.Terminal {
		t.Terminal = new(*e)
	}
	return e.Event, true
}

// addDelta takes a piece of text. The first piece of another block comes with
// what keeps the two apart, so that the pieces are the answer.
func (t *Tally) addDelta(e call.Event) (call.Event, bool) {
	if e.Text == "" {
		return e, false
	}
	apart := ""
	if t.pending.Len() == 0 {
		apart = t.begin()
	}
	t.pending.WriteString(e.Text)
	e.Text = apart + e.Text
	t.text.WriteString(e.Text)
	return e, true
}

// Progress reports whether a CLI that says this got over its trouble.
func Progress(e *call.Event) bool {
	switch e.Kind {
	case call.EventDelta, call.EventText, call.EventThinking, call.EventToolUse:
		return true
	case call.EventResult:
		return !e.Failed
	}
	return false
}

// begin starts a block of text and returns what comes between it and the one
// before.
func (t *Tally) begin() (apart string) {
	if t.Answer == clispec.AnswerLastBlock && t.blocks > 0 {
		t.text.Reset()
	} else if t.blocks > 0 {
		apart = "\n\n"
	}
	t.last = t.text.Len() + len(apart)
	return apart
}

// addBlock takes a whole block of text. CLIs that send deltas send the same
// text again as a block: it is delivered once.
func (t *Tally) addBlock(e call.Event) (call.Event, bool) {
	if t.pending.Len() > 0 {
		t.blocks++
		rest, ok := strings.CutPrefix(e.Text, t.pending.String())
		t.pending.Reset()
		if !ok || rest == "" {
			return e, false
		}
		t.text.WriteString(rest)
		return call.Event{Kind: call.EventDelta, Backend: e.Backend, Text: rest}, true
	}
	if e.Text == "" {
		return e, false
	}
	t.text.WriteString(t.begin() + e.Text)
	t.blocks++
	return e, true
}

func (t *Tally) Warn(message string) {
	const maxWarnings = 20
	if message != "" && len(t.Warnings) < maxWarnings {
		t.Warnings = append(t.Warnings, plaintext.OneLine(message))
	}
}

// mark notes an answer that is not quite what was asked for.
func (t *Tally) mark(flag call.Flag, warning string) {
	t.Flags = append(t.Flags, flag)
	t.Warn(warning)
}

// AnswerText is the result's own text, else the text since the last tool use:
// what was said before is a remark on the work, not its outcome. A result that
// has no more than the last of several blocks is no answer by itself.
func (t *Tally) AnswerText() string {
	text, last := t.text.String(), t.Terminal
	if !t.succeeded() || last.Text == "" || !last.Whole && last.Text == text[t.last:] {
		return text
	}
	return last.Text
}

// soFar is the text of a run that did not get to its answer.
func (t *Tally) soFar() string {
	if text := t.AnswerText(); strings.TrimSpace(text) != "" {
		return text
	}
	return t.before.String()
}

// gotOver reports whether nothing that the CLI tried again stands in its way
// any more.
func (t *Tally) gotOver() bool { return t.overcame && t.retry == nil }

// limitEnd is when a limit ends of which words said when. The time of a limit
// event is exact, where words may leave out the seconds, the day or the zone;
// but if it is about a limit that was not hit, it is no more than a guess.
func (t *Tally) limitEnd(words, now time.Time) time.Time {
	if t.limit == nil || t.limit.RetryAfter.IsZero() || !t.limit.Failed && !words.IsZero() {
		return words
	}
	return resettime.Clamp(t.limit.RetryAfter, now)
}

// succeeded reports whether the CLI's last word is an answer.
func (t *Tally) succeeded() bool {
	return t.Terminal != nil && t.Terminal.Kind == call.EventResult && !t.Terminal.Failed
}

// Total is the result's usage where it has one, else the sum of the steps.
func (t *Tally) Total() call.Usage {
	if t.Terminal != nil && t.Terminal.Usage != (call.Usage{}) {
		return t.Terminal.Usage
	}
	return t.usage
}

func orOld(value, old string) string {
	if value != "" {
		return value
	}
	return old
}
