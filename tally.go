package clichain

import (
	"strings"
	"time"
)

// tally is what the events of one run add up to. It does no I/O, so a recorded
// stream gives the same result as a live one.
type tally struct {
	Answer AnswerMode

	Session, Model, KeySource string
	Terminal                  *Sign  // the last one wins
	Failures                  []Sign // error events, oldest first
	retry                     *Sign  // what the CLI is trying again right now
	overcame                  bool   // it tried again, and got on
	limit                     *Sign  // the latest limit event
	Fatal                     *Finding
	usage                     Usage // sum of the steps
	Tools                     int
	known                     bool // there was an event that a rule knows
	thinking                  bool // pieces of a block of thinking have come
	Warnings                  []string
	Flags                     []Flag

	before  strings.Builder // text before the last tool use
	text    strings.Builder // text since
	pending strings.Builder // deltas of a block that has not come as a whole yet
	blocks  int             // whole blocks in text
	last    int             // where the last block begins in it
}

// Add takes an event and returns what a reader of the stream should see: the
// event, the part of a block that did not come in deltas, or nothing.
func (t *tally) Add(e *Sign) (Event, bool) {
	t.known = t.known || e.Kind != EventRaw
	if t.retry != nil && progress(&e.Event) {
		t.retry, t.overcame = nil, true
	}
	switch e.Kind {
	case EventDelta:
		return t.addDelta(e.Event)
	case EventText:
		return t.addBlock(e.Event)
	case EventThinking:
		twice := e.Whole && t.thinking
		t.thinking = !e.Whole
		return e.Event, e.Text != "" && !twice
	case EventToolUse:
		t.Tools++
		t.before.WriteString(t.text.String())
		t.text.Reset()
		t.pending.Reset() // a block that is not closed by now never will be
		t.blocks, t.last = 0, 0
	case EventSession:
		t.Session, t.Model, t.KeySource = orOld(e.Session, t.Session), orOld(e.Model, t.Model), orOld(e.KeySource, t.KeySource)
	case EventUsage:
		t.usage = t.usage.Add(e.Usage)
	case EventResult:
		if t.usage == (Usage{}) {
			t.usage = e.Usage // for a run that we ended: this is no last word then
		}
	case EventRetry:
		t.retry = new(*e)
	case EventLimit:
		t.limit = new(*e)
	case EventWarning:
		t.Warn(e.Message)
	case EventError:
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
func (t *tally) addDelta(e Event) (Event, bool) {
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

// progress reports whether a CLI that says this got over its trouble.
func progress(e *Event) bool {
	switch e.Kind {
	case EventDelta, EventText, EventThinking, EventToolUse:
		return true
	case EventResult:
		return !e.Failed
	}
	return false
}

// begin starts a block of text and returns what comes between it and the one
// before.
func (t *tally) begin() (apart string) {
	if t.Answer == AnswerLastBlock && t.blocks > 0 {
		t.text.Reset()
	} else if t.blocks > 0 {
		apart = "\n\n"
	}
	t.last = t.text.Len() + len(apart)
	return apart
}

// addBlock takes a whole block of text. CLIs that send deltas send the same
// text again as a block: it is delivered once.
func (t *tally) addBlock(e Event) (Event, bool) {
	if t.pending.Len() > 0 {
		t.blocks++
		rest, ok := strings.CutPrefix(e.Text, t.pending.String())
		t.pending.Reset()
		if !ok || rest == "" {
			return e, false
		}
		t.text.WriteString(rest)
		return Event{Kind: EventDelta, Backend: e.Backend, Text: rest}, true
	}
	if e.Text == "" {
		return e, false
	}
	t.text.WriteString(t.begin() + e.Text)
	t.blocks++
	return e, true
}

func (t *tally) Warn(message string) {
	const maxWarnings = 20
	if message != "" && len(t.Warnings) < maxWarnings {
		t.Warnings = append(t.Warnings, oneLine(message))
	}
}

// mark notes an answer that is not quite what was asked for.
func (t *tally) mark(flag Flag, warning string) {
	t.Flags = append(t.Flags, flag)
	t.Warn(warning)
}

// AnswerText is the result's own text, else the text since the last tool use:
// what was said before is a remark on the work, not its outcome. A result that
// has no more than the last of several blocks is no answer by itself.
func (t *tally) AnswerText() string {
	text, last := t.text.String(), t.Terminal
	if !t.succeeded() || last.Text == "" || !last.Whole && last.Text == text[t.last:] {
		return text
	}
	return last.Text
}

// soFar is the text of a run that did not get to its answer.
func (t *tally) soFar() string {
	if text := t.AnswerText(); strings.TrimSpace(text) != "" {
		return text
	}
	return t.before.String()
}

// gotOver reports whether nothing that the CLI tried again stands in its way
// any more.
func (t *tally) gotOver() bool { return t.overcame && t.retry == nil }

// limitEnd is when a limit ends of which words said when. The time of a limit
// event is exact, where words may leave out the seconds, the day or the zone;
// but if it is about a limit that was not hit, it is no more than a guess.
func (t *tally) limitEnd(words, now time.Time) time.Time {
	if t.limit == nil || t.limit.RetryAfter.IsZero() || !t.limit.Failed && !words.IsZero() {
		return words
	}
	return clampReset(t.limit.RetryAfter, now)
}

// succeeded reports whether the CLI's last word is an answer.
func (t *tally) succeeded() bool {
	return t.Terminal != nil && t.Terminal.Kind == EventResult && !t.Terminal.Failed
}

// Total is the result's usage where it has one, else the sum of the steps.
func (t *tally) Total() Usage {
	if t.Terminal != nil && t.Terminal.Usage != (Usage{}) {
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
