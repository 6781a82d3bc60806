package inspect

import (
	"fmt"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// modelsTable returns the models as a table, in lines of up to width columns. Control characters in names are escaped.
func modelsTable(offers []offer, paint console.Style, width int) string {
	p := console.NewPage(paint, width)
	for _, o := range offers {
		p.Title(o.Backend)
		switch {
		case o.Failure != nil:
			p.Hang("  "+p.Yellow("–")+" ", terminal.OneLine(string(o.Failure.Reason)+": "+o.Failure.Message), console.Plain)
			if o.Failure.Hint != "" {
				p.Hang("    ", terminal.OneLine("→ "+o.Failure.Hint), console.Plain)
			}
		case !o.Lists:
			p.Hang("  "+p.Yellow("–")+" ", "clichain knows no way to list the models of this CLI", console.Plain)
		}
		names := make([]string, len(o.Models))
		for i, m := range o.Models {
			names[i] = m.Name
		}
		column := console.Widest(names, p.Width/2-4)
		for _, m := range o.Models {
			modelLines(p, m, column)
		}
	}
	return p.String()
}

// modelLines writes a model on one line, or on several lines if it has many details.
func modelLines(p *console.Page, m call.Model, column int) {
	head := "    "
	if m.Default {
		head = "  " + p.Green("*") + " "
	}
	about := terminal.OneLine(aboutModel(m))
	if name := terminal.OneLine(m.Name); terminal.Width(name) > column { // users may copy it
		p.Cut(head, name, console.Plain)
		p.Hang(strings.Repeat(" ", column+6), about, console.Plain)
		return
	}
	p.Hang(head+console.Cell(m.Name, column)+"  ", about, console.Plain)
}

// aboutModel describes a model.
func aboutModel(m call.Model) string {
	var parts []string
	if m.Title != m.Name {
		parts = append(parts, m.Title)
	}
	if m.Default {
		parts = append(parts, "the default")
	}
	if m.Context > 0 {
		parts = append(parts, tokens(m.Context)+" tokens")
	}
	parts = append(parts, strings.Join(m.Inputs, " "))
	efforts := make([]string, len(m.Efforts))
	for i, effort := range m.Efforts {
		efforts[i] = effort
		if effort == m.DefaultEffort {
			efforts[i] += "*"
		}
	}
	if len(efforts) > 0 {
		parts = append(parts, "effort "+strings.Join(efforts, " "))
	}
	return console.JoinTexts(parts)
}

// tokens formats a number of tokens, in thousands if it is round.
func tokens(n int64) string {
	if n%1000 == 0 {
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
