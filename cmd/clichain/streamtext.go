package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/clichain/clichain"
)

// textStream prints a stream for people: text on out as it comes, one line on
// err for what happens in between.
type textStream struct {
	out, err io.Writer
	clean    bool // out is a terminal
	style    style

	wrote   bool // there is text on out
	newline bool // which ends in a line break
	apart   bool // the next text is a new block
	last    clichain.EventKind
}

func (a *app) streamText(ctx context.Context, chain *clichain.Chain, req clichain.Request) (*clichain.Response, error) {
	t := &textStream{out: a.out, err: a.err, clean: isTerminal(a.out), style: a.styleOf(a.err)}
	for e, err := range chain.Stream(ctx, req) {
		if err != nil {
			_ = t.endLine() // what failed is told after it
			return nil, err
		}
		if err := t.show(e); err != nil {
			return nil, outputError(err)
		}
		if e.Kind == clichain.EventDone {
			return e.Response, nil
		}
	}
	return nil, nil // a stream ends in an error or in EventDone
}

func (t *textStream) show(e clichain.Event) error {
	before := t.last
	t.last = e.Kind
	switch e.Kind {
	case clichain.EventDelta:
		return t.text(e.Text)
	case clichain.EventText:
		t.apart = t.wrote
		err := t.text(e.Text)
		t.apart = true
		return err
	case clichain.EventToolUse:
		t.apart = t.wrote
		return t.status(e, "uses "+e.Name)
	case clichain.EventThinking:
		if before == clichain.EventThinking {
			return nil // one line for all of a thought
		}
		return t.status(e, "thinks")
	case clichain.EventCompact:
		return t.status(e, "shortens what it remembers of the conversation")
	case clichain.EventReset:
		t.apart = t.wrote
		return t.status(e, "answers anew: forget the text so far")
	case clichain.EventAttempt:
		if e.Attempt.Skipped {
			return nil // it cost nothing
		}
		return t.status(e, "did not answer: "+string(e.Attempt.Reason))
	case clichain.EventRetry:
		return t.status(e, strings.Join(strings.Fields(fmt.Sprintf("tries again: %s %s", e.Message, retryDetail(e))), " "))
	case clichain.EventDone:
		if !t.wrote {
			return cmp.Or(t.text(e.Response.Text), t.endLine())
		}
		return t.endLine()
	}
	return nil
}

func retryDetail(e clichain.Event) string {
	detail := ""
	if e.Try > 0 {
		detail = fmt.Sprintf("try %d", e.Try)
	}
	if e.Status > 0 {
		detail += fmt.Sprintf(" after status %d", e.Status)
	}
	return detail
}

// text prints a piece of the answer.
func (t *textStream) text(s string) error {
	if t.clean {
		s = visible(s)
	}
	if s == "" {
		return nil
	}
	if t.apart {
		s = "\n" + s
		if !t.newline {
			s = "\n" + s
		}
		t.apart = false
	}
	t.wrote, t.newline = true, strings.HasSuffix(s, "\n")
	_, err := io.WriteString(t.out, s)
	return err
}

// status prints a line of its own.
func (t *textStream) status(e clichain.Event, what string) error {
	if t.clean { // out and err are most likely the same screen
		if err := t.endLine(); err != nil {
			return err
		}
	}
	fmt.Fprintln(t.err, t.style.dim(shorten(e.Backend+" "+oneLine(what), columns(t.err))))
	return nil
}

func (t *textStream) endLine() error {
	if !t.wrote || t.newline {
		return nil
	}
	t.newline = true
	_, err := io.WriteString(t.out, "\n")
	return err
}
