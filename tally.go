package clichain

import "strings"

// tally is what the events of one run add up to. It does no I/O, so a recorded
// stream gives the same result as a live one.
type tally struct {
	answer AnswerMode

	session, model, keySource string
	terminal                  *Event  // the last one wins
	failures                  []Event // error events, oldest first
	retry                     *Event  // the latest sign that the CLI is trying again
	limit                     *Event  // the latest limit event with a time
	fatal                     *finding
	usage                     Usage // sum of the steps
	tools                     int
	known                     bool // there was an event that a rule knows
	thinking                  bool // pieces of a block of thinking have come
	warnings                  []string
	flags                     []Flag

	before  strings.Builder // text before the last tool use
	text    strings.Builder // text since
	pending strings.Builder // deltas of a block that has not come as a whole yet
	blocks  int             // whole blocks in text
}

// add takes an event and returns what a reader of the stream should see: the
// event, the part of a block that did not come in deltas, or nothing.
func (t *tally) add(e Event) (Event, bool) {
	t.known = t.known || e.Kind != EventRaw
	switch e.Kind {
	case EventDelta:
		t.pending.WriteString(e.Text)
		t.text.WriteString(e.Text)
		return e, e.Text != ""
	case EventText:
		return t.addBlock(e)
	case EventThinking:
		twice := e.whole && t.thinking
		t.thinking = !e.whole
		return e, e.Text != "" && !twice
	case EventToolUse:
		t.tools++
		t.before.WriteString(t.text.String())
		t.text.Reset()
		t.pending.Reset() // a block that is not closed by now never will be
		t.blocks = 0
	case EventSession:
		t.session, t.model, t.keySource = orOld(e.Session, t.session), orOld(e.Model, t.model), orOld(e.KeySource, t.keySource)
	case EventUsage:
		t.usage = t.usage.add(e.Usage)
	case EventRetry:
		t.retry = &e
	case EventLimit:
		t.limit = &e
	case EventWarning:
		t.warn(e.Message)
	case EventError:
		t.failures = append(t.failures, e)
	}
	t.session = orOld(e.Session, t.session)
	if e.terminal {
		t.terminal = &e
	}
	return e, true
}

// addBlock takes a whole block of text. CLIs that send deltas send the same
// text again as a block: it is delivered once.
func (t *tally) addBlock(e Event) (Event, bool) {
	if t.pending.Len() > 0 {
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
	if t.answer == AnswerLastBlock {
		t.text.Reset()
	} else if t.blocks > 0 {
		t.text.WriteString("\n\n")
	}
	t.blocks++
	t.text.WriteString(e.Text)
	return e, true
}

func (t *tally) warn(message string) {
	const maxWarnings = 20
	if message != "" && len(t.warnings) < maxWarnings {
		t.warnings = append(t.warnings, oneLine(message))
	}
}

// mark notes an answer that is not quite what was asked for.
func (t *tally) mark(flag Flag, warning string) {
	t.flags = append(t.flags, flag)
	t.warn(warning)
}

// answerText is the text of the run as far as it went.
func (t *tally) answerText() string {
	if t.terminal != nil && t.terminal.Text != "" && !t.terminal.Failed && t.terminal.Kind == EventResult {
		return t.terminal.Text
	}
	if text := t.text.String(); strings.TrimSpace(text) != "" {
		return text
	}
	return t.before.String()
}

// succeeded reports whether the CLI's last word is an answer.
func (t *tally) succeeded() bool {
	return t.terminal != nil && t.terminal.Kind == EventResult && !t.terminal.Failed
}

// total is the result's usage where it has one, else the sum of the steps.
func (t *tally) total() Usage {
	if t.terminal != nil && t.terminal.Usage != (Usage{}) {
		return t.terminal.Usage
	}
	return t.usage
}

func orOld(value, old string) string {
	if value != "" {
		return value
	}
	return old
}
