package queue

import (
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/jetstream"
)

// DeadLetter is the entry of a dead letter in a list. It does not have the prompt.
type DeadLetter struct {
	ID          string          `json:"id"`
	Reason      clichain.Reason `json:"reason"`
	Message     string          `json:"message"`
	Finished    time.Time       `json:"finished"`
	Worker      string          `json:"worker"`
	Deliveries  int             `json:"deliveries"`
	Access      clichain.Access `json:"access"`
	SideEffects bool            `json:"side_effects"` // the agent may have changed something
}

func newDeadLetter(r *jetstream.Result) DeadLetter {
	l := DeadLetter{
		ID: r.ID, Reason: r.Failure.Reason, Message: r.Failure.Message, Finished: r.Finished, Worker: r.Worker,
		Deliveries: len(r.History) + 1, SideEffects: r.Failure.SideEffects,
	}
	if r.Job != nil {
		l.Access = r.Job.Request.Access
	}
	return l
}

// text returns a line about the dead letter, with its message below.
func (l DeadLetter) text(paint console.Style, width int, now time.Time) string {
	access, _ := l.Access.MarshalText() // an unknown level has no name
	facts := []string{
		terminal.OneLine(string(l.Reason)), console.Roughly(now.Sub(l.Finished)) + " ago", console.Plural(l.Deliveries,
			"delivery", "deliveries"),
		"access " + string(access),
	}
	if l.SideEffects {
		facts = append(facts, "may have changed something")
	}
	p := console.NewPage(paint, width)
	p.Title(l.ID)
	p.Hang("    ", strings.Join(facts, ", "), p.Red)
	p.Hang("    ", terminal.OneLine(l.Message), p.Dim)
	return p.String()
}
