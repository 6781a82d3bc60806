package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// printAnswer calls the chain and prints the answer, its warnings and, with --trace, the attempts.
func printAnswer(
	ctx context.Context, r *selection.Resolver, o output, s *selection.Selection, t *talk, req clichain.Request,
) error {
	start := time.Now()
	beside, shown := watch(r.Env, s, o.trace)
	var resp *clichain.Response
	from, err := t.of(s.NewChain(shown.hooks()))
	if err == nil {
		resp, err = deliver(ctx, beside, o, from, req)
	}
	shown.end()
	took := time.Since(start)
	failed, _ := errors.AsType[*clichain.ChainError](err)
	if be, ok := errors.AsType[*clichain.BackendError](err); ok && failed == nil { // of a conversation
		failed = &clichain.ChainError{Cause: be}
	}
	if failed != nil {
		failed = withHints(failed, s, req.Access)
		r.WarnDoubts(s.Providers)
		err = console.Fail(console.ChainStatus(failed, s.Chain.Budget > 0 && took >= s.Chain.Budget), failed)
	}
	if !o.json {
		printWarnings(r.Err, resp, failed)
	}
	printUnconfined(r.Err, s, req.Access, resp, failed)
	t.settle(ctx, resp)
	if resp != nil && resp.Session != "" && o.verbose {
		fmt.Fprintln(r.Err, r.StyleOf(r.Err).Dim("clichain: to go on from here: --session "+terminal.OneLine(resp.Session)))
	}
	if o.trace {
		printTrace(r.Env, shown, resp, failed, took)
	}
	return err
}

// printWarnings prints the warnings of an answer or of a failure. Both may be nil.
func printWarnings(w io.Writer, resp *clichain.Response, failed *clichain.ChainError) {
	line := func(backend, warning string) {
		fmt.Fprintf(w, "clichain: %s: warning: %s\n", backend, terminal.OneLine(warning))
	}
	if resp != nil {
		for _, warning := range resp.Warnings {
			line(resp.Backend, warning)
		}
	}
	if failed == nil {
		return
	}
	for _, a := range failed.Attempts {
		if be, ok := errors.AsType[*clichain.BackendError](a.Err); ok {
			for _, warning := range be.Warnings {
				line(be.Backend, warning)
			}
		}
	}
}

// deliver prints the answer in the form that the flags choose.
func deliver(
	ctx context.Context, env *console.Env, o output, from answerer, req clichain.Request,
) (*clichain.Response, error) {
	switch {
	case o.stream && o.json:
		return streamEvents(ctx, env, from, req)
	case o.stream:
		return streamText(ctx, env, from, req)
	}
	resp, err := from.Complete(ctx, req)
	if err != nil {
		return nil, err
	}
	if o.json {
		return resp, env.PrintJSON(resp)
	}
	text := resp.Text
	if terminal.Is(env.Out) {
		text = terminal.Visible(text)
	}
	_, err = fmt.Fprintln(env.Out, strings.TrimSuffix(text, "\n"))
	return resp, console.OutputError(err)
}

// streamEvents prints one event per line. The last event has the response.
func streamEvents(
	ctx context.Context, env *console.Env, from answerer, req clichain.Request,
) (resp *clichain.Response, err error) {
	for e, err := range from.Stream(ctx, req) {
		if err != nil {
			return nil, err
		}
		if err := console.WriteJSON(env.Out, e, false); err != nil {
			return nil, err
		}
		resp = e.Response
	}
	return resp, nil
}

// textStream prints a stream as text: the answer on out while it arrives, and one line on err for each other event.
type textStream struct {
	out, err io.Writer
	clean    bool // out is a terminal
	live     bool // err already shows the progress
	style    console.Style

	wrote   bool // there is text on out
	newline bool // that text ends in a line break
	apart   bool // a blank line precedes the next text
	last    clichain.EventKind
}

func streamText(
	ctx context.Context, env *console.Env, from answerer, req clichain.Request,
) (*clichain.Response, error) {
	t := &textStream{
		out: env.Out, err: env.Err, clean: terminal.Is(env.Out), live: env.Redraws(env.Err), style: env.StyleOf(env.Err),
	}
	for e, err := range from.Stream(ctx, req) {
		if err != nil {
			_ = t.endLine() // the failure is printed after it
			return nil, err
		}
		if err := t.show(e); err != nil {
			return nil, console.OutputError(err)
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
	case clichain.EventDelta, clichain.EventText:
		return t.text(e.Text)
	case clichain.EventToolUse: // without its command line, which may have secrets
		t.apart = t.wrote
		return t.status(e, "uses "+e.Name)
	case clichain.EventReset:
		t.apart = t.wrote
		return t.status(e, doing(e))
	case clichain.EventThinking:
		if before == clichain.EventThinking {
			return nil // one line for all pieces of a thought
		}
		return t.status(e, doing(e))
	case clichain.EventCompact, clichain.EventRetry:
		return t.status(e, doing(e))
	case clichain.EventAttempt:
		if e.Attempt.Skipped {
			return nil // a skipped backend took no time
		}
		return t.status(e, "did not answer: "+string(e.Attempt.Reason))
	case clichain.EventDone:
		if !t.wrote {
			return cmp.Or(t.text(e.Response.Text), t.endLine())
		}
		return t.endLine()
	}
	return nil
}

// text prints a piece of the answer.
func (t *textStream) text(s string) error {
	if t.clean {
		s = terminal.Visible(s)
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

// status prints a separate line.
func (t *textStream) status(e clichain.Event, what string) error {
	if t.clean { // out and err are most likely the same screen
		if err := t.endLine(); err != nil {
			return err
		}
	}
	if t.live && e.Kind != clichain.EventReset { // a reset is about text that was printed
		return nil
	}
	fmt.Fprintln(t.err, t.style.Dim(terminal.Shorten(e.Backend+" "+terminal.OneLine(what), console.Columns(t.err))))
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
