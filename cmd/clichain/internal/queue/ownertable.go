package queue

import (
	"fmt"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/jetstream"
)

// queueOwners lists the jobs of each owner.
func queueOwners(p *console.Page, list []jetstream.OwnerStatus) {
	if len(list) == 0 {
		return
	}
	p.Title("Owners")
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = ownerName(o.Owner)
	}
	column := console.Widest(names, p.Width/2-4)
	for i, o := range list {
		parts := append(limitTexts(o), fmt.Sprintf("%d answers", o.Answers), fmt.Sprintf("%d failures", o.Failures))
		if usd := o.Usage.CostUSD; usd != nil {
			parts = append(parts, console.Dollars(*usd))
		}
		p.Cut(fmt.Sprintf("  %s %7d waiting %5d running  ", console.Cell(names[i], column), o.Waiting, o.Running),
			console.JoinTexts(parts), p.Dim)
	}
}

// limitTexts describes the limits of an owner that delay its jobs now, and the limited use of today.
func limitTexts(o jetstream.OwnerStatus) (parts []string) {
	l := o.Limits
	if !o.Until.IsZero() {
		parts = append(parts, "waits until "+o.Until.UTC().Format("15:04 UTC"))
	}
	if l.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s today", console.Dollars(o.Today.CostUSD), console.Dollars(l.CostUSD)))
	}
	if l.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d tokens today", o.Today.Tokens, l.Tokens))
	}
	if l.Running > 0 && o.Running >= l.Running && o.Waiting > 0 {
		parts = append(parts, fmt.Sprintf("may run %d", l.Running))
	}
	return parts
}

func ownerName(owner string) string {
	switch owner {
	case "":
		return "(none)"
	case jetstream.AnyOwner:
		return "(several)"
	}
	return owner
}
