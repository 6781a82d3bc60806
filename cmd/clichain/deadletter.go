package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// deadLetter is what a list tells of a dead letter: not what was asked.
type deadLetter struct {
	ID          string          `json:"id"`
	Reason      clichain.Reason `json:"reason"`
	Message     string          `json:"message"`
	Finished    time.Time       `json:"finished"`
	Worker      string          `json:"worker"`
	Deliveries  int             `json:"deliveries"`
	Access      clichain.Access `json:"access"`
	SideEffects bool            `json:"side_effects"` // the agent may have changed something
}

func newDeadLetter(r *jetstream.Result) deadLetter {
	l := deadLetter{
		ID: r.ID, Reason: r.Failure.Reason, Message: r.Failure.Message, Finished: r.Finished, Worker: r.Worker,
		Deliveries: len(r.History) + 1, SideEffects: r.Failure.SideEffects,
	}
	if r.Job != nil {
		l.Access = r.Job.Request.Access
	}
	return l
}

// text is the letter for people: a line, and its message below.
func (l deadLetter) text(paint style, width int, now time.Time) string {
	access, _ := l.Access.MarshalText() // a level that nobody knows has no name
	facts := []string{
		oneLine(string(l.Reason)), roughly(now.Sub(l.Finished)) + " ago", plural(l.Deliveries, "delivery", "deliveries"),
		"access " + string(access),
	}
	if l.SideEffects {
		facts = append(facts, "may have changed something")
	}
	p := newPage(paint, width)
	p.title(l.ID)
	p.hang("    ", strings.Join(facts, ", "), p.red)
	p.hang("    ", oneLine(l.Message), p.dim)
	return p.String()
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
