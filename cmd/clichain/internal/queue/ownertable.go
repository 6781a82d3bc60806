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
		parts := []string{fmt.Sprintf("%d answers", o.Answers), fmt.Sprintf("%d failures", o.Failures)}
		if usd := o.Usage.CostUSD; usd != nil {
			parts = append(parts, console.Dollars(*usd))
		}
		p.Cut(fmt.Sprintf("  %s %7d waiting %5d running  ", console.Cell(names[i], column), o.Waiting, o.Running),
			console.JoinTexts(parts), p.Dim)
	}
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
