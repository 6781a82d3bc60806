package rename

import (
	"slices"

	"github.com/clichain/clichain/call"
)

// Stream replaces paths in the events of one call. A path can be split over several deltas, so the stream holds back
// the end of a text that could be the beginning of a path. It is not safe for concurrent use.
type Stream struct {
	paths *Paths
	// held is an event of kind delta or thinking with the text that is held back. Without a text, there is none.
	held call.Event
}

// Stream returns the replacement for the events of one call.
func (p *Paths) Stream() *Stream { return &Stream{paths: p} }

// Next returns the events to deliver in place of an event.
func (s *Stream) Next(e call.Event) (events []call.Event) {
	switch e.Kind {
	case call.EventDelta, call.EventThinking:
		if s.held.Kind != e.Kind {
			events = s.End()
		}
		e.Text, s.held.Text = s.paths.replace(s.held.Text+e.Text, false)
		if s.held.Kind, s.held.Backend = e.Kind, e.Backend; e.Text == "" {
			return events
		}
		return append(events, e)
	case call.EventReset:
		s.held = call.Event{}
	case call.EventUsage, call.EventStatus, call.EventWarning, call.EventRetry, call.EventLimit, call.EventRaw,
		call.EventSession, call.EventCompact: // they can occur between two parts of a text
	default:
		events = s.End()
	}
	return append(events, s.paths.event(e))
}

// End returns the event with the text that is held back, if there is one.
func (s *Stream) End() (events []call.Event) {
	if s.held.Text != "" {
		s.held.Text = s.paths.Text(s.held.Text)
		events = append(events, s.held)
	}
	s.held = call.Event{}
	return events
}

// event replaces the paths in an event whose text is complete.
func (p *Paths) event(e call.Event) call.Event {
	e.Text, e.Message, e.Raw = p.Text(e.Text), p.Text(e.Message), p.Text(e.Raw)
	if len(e.Input) > 0 {
		e.Input = p.JSON(e.Input)
	}
	if e.Attempt != nil {
		e.Attempt = &p.attempts([]call.Attempt{*e.Attempt})[0]
	}
	return e
}

// Response returns a copy of the response with the replacements. The changes stay as they are. structured reports
// whether the text is a JSON value.
func (p *Paths) Response(r *call.Response, structured bool) *call.Response {
	out := *r
	if structured {
		out.Text = string(p.JSON([]byte(r.Text)))
	} else {
		out.Text = p.Text(r.Text)
	}
	out.Warnings, out.Attempts = p.texts(r.Warnings), p.attempts(r.Attempts)
	return &out
}

// Error returns a copy of the error with the replacements.
func (p *Paths) Error(err error) error {
	switch err := err.(type) {
	case nil:
		return nil
	case *call.ChainError:
		out := *err
		out.Attempts, out.Cause, out.Note = p.attempts(err.Attempts), p.Error(err.Cause), p.Text(err.Note)
		return &out
	case *call.Error:
		out := *err
		out.Message, out.Stderr, out.Partial = p.Text(err.Message), p.Text(err.Stderr), p.Text(err.Partial)
		out.Hint, out.Warnings, out.Earlier = p.Text(err.Hint), p.texts(err.Warnings), p.attempts(err.Earlier)
		out.Advice = slices.Clone(err.Advice)
		for i := range out.Advice {
			out.Advice[i].Value = p.Text(out.Advice[i].Value)
		}
		out.Err = p.Error(err.Err)
		return &out
	}
	if text := err.Error(); p.Text(text) != text {
		return &renamed{p.Text(text), err}
	}
	return err
}

// renamed is an error with another text.
type renamed struct {
	text string
	err  error
}

func (e *renamed) Error() string { return e.text }
func (e *renamed) Unwrap() error { return e.err }

func (p *Paths) attempts(list []call.Attempt) []call.Attempt {
	list = slices.Clone(list)
	for i := range list {
		list[i].Err = p.Error(list[i].Err)
	}
	return list
}

func (p *Paths) texts(list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = p.Text(list[i])
	}
	return list
}
