package inspect

import (
	"fmt"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// modelsTable is what the CLIs offer, for people, in lines of up to width columns. It is a pure function, and names
// that others have chosen cannot move the cursor.
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

// modelLines is a line for a model; more where what is known of it needs them.
func modelLines(p *console.Page, m call.Model, column int) {
	head := "    "
	if m.Default {
		head = "  " + p.Green("*") + " "
	}
	about := terminal.OneLine(aboutModel(m))
	if name := terminal.OneLine(m.Name); terminal.Width(name) > column { // which somebody may want to copy
		p.Cut(head, name, console.Plain)
		p.Hang(strings.Repeat(" ", column+6), about, console.Plain)
		return
	}
	p.Hang(head+console.Cell(m.Name, column)+"  ", about, console.Plain)
}

// aboutModel is what is known of a model beside its name.
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

// tokens is a number of tokens in thousands, where it is a round one.
func tokens(n int64) string {
	if n%1000 == 0 {
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
