package ask

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// refresh is the pause between two updates of the line.
const refresh = 200 * time.Millisecond

// progress shows a running call on one line of a terminal: the backend, the elapsed time, and what the CLI reports.
// A nil progress shows nothing.
type progress struct {
	line     terminal.Line
	style    console.Style
	timeline *timeline // draws each attempt; nil: the line names the failed backends
	over     chan struct{}
	drawn    sync.WaitGroup

	mu     sync.Mutex
	who    string // a backend, or the command itself between two attempts
	began  time.Time
	doing  string
	failed []string
}

// watch shows a call on stderr until end. Writers of beside remove the line before they write.
func watch(env *console.Env, s *selection.Selection, trace bool) (beside *console.Env, p *progress) {
	if !env.Redraws(env.Err) {
		return env, nil
	}
	p = &progress{style: env.StyleOf(env.Err), over: make(chan struct{})}
	p.turn("clichain", "looks for a CLI")
	p.line.Out, p.line.Width = env.Err, func() int { return console.Columns(env.Err) }
	over := *env
	over.Out, over.Err = p.line.Over(env.Out), p.line.Over(env.Err)
	beside = &over
	if trace {
		p.timeline = newTimeline(beside)
		p.timeline.full = param.BackendTimeout(&s.Config)
		for _, b := range s.Providers {
			p.timeline.name(b.Name())
		}
	}
	p.drawn.Go(p.run)
	return beside, p
}

func (p *progress) run() {
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		select {
		case <-p.over:
			return
		case <-tick.C:
			p.line.Draw(p.text)
		}
	}
}

// end removes the line permanently.
func (p *progress) end() {
	if p == nil {
		return
	}
	close(p.over)
	p.drawn.Wait()
	p.line.Clear()
}

func (p *progress) hooks() *clichain.Hooks {
	if p == nil {
		return nil
	}
	return &clichain.Hooks{Event: p.see}
}

func (p *progress) see(_ context.Context, e clichain.Event) {
	p.note(e)
	if e.Kind == clichain.EventAttempt && p.timeline != nil { // before the lock, which the timeline needs
		p.timeline.draw(rowOf(*e.Attempt))
	}
}

func (p *progress) note(e clichain.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what := doing(e)
	switch {
	case e.Kind == clichain.EventStart:
		p.turn(e.Backend, "starting")
	case e.Kind == clichain.EventAttempt && !e.Attempt.Skipped:
		p.turn("clichain", "looks for another CLI")
		p.failed = append(p.failed, fmt.Sprintf("%s: %s", e.Backend, e.Attempt.Reason))
	case what != "":
		p.doing = terminal.OneLine(what)
	}
}

func (p *progress) turn(who, doing string) { p.who, p.began, p.doing = who, time.Now(), doing }

// text returns the line, of at most width columns.
func (p *progress) text(width int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := time.Since(p.began)
	if p.timeline != nil && p.timeline.labelWidth(width) > 0 {
		return p.timeline.line(row{name: p.who, took: took, state: running, label: p.doing}, width)
	}
	since := fmt.Sprintf("%3d s", int(took.Seconds()))
	head := terminal.Fit(width, terminal.Part{Text: p.who, Importance: 1}, terminal.Part{Text: since})
	parts := []terminal.Part{
		{Text: head, Importance: 3},
		{Text: terminal.Shorten(p.doing, width-terminal.Width(head)-2), Importance: 2},
	}
	if len(p.failed) > 0 {
		parts = append(parts, terminal.Part{Text: "(" + strings.Join(p.failed, ", ") + ")", Importance: 1})
	}
	return p.style.Dim(terminal.Fit(width, parts...))
}
