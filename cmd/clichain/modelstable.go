package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clichain/clichain/call"
)

// modelsTable is what the CLIs offer, for people, in lines of up to width columns. It is a pure function, and names
// that others have chosen cannot move the cursor.
func modelsTable(offers []offer, paint style, width int) string {
	t := &modelsWriter{style: paint, width: max(width, 40)}
	for i, o := range offers {
		if i > 0 {
			t.text.WriteString("\n")
		}
		t.offer(o)
	}
	return t.text.String()
}

// modelsWriter collects the lines of a table.
type modelsWriter struct {
	text  strings.Builder
	style style
	width int
}

func (t *modelsWriter) offer(o offer) {
	t.text.WriteString(t.style.bold(shorten(oneLine(o.Backend), t.width)) + "\n")
	switch {
	case o.Failure != nil:
		t.lines("  "+t.style.yellow("–")+" ", 4, string(o.Failure.Reason)+": "+o.Failure.Message)
		if o.Failure.Hint != "" {
			t.lines("    ", 4, "→ "+o.Failure.Hint)
		}
	case !o.Lists:
		t.lines("  "+t.style.yellow("–")+" ", 4, "clichain knows no way to list the models of this CLI")
	}
	column := 0
	for _, m := range o.Models {
		column = max(column, utf8.RuneCountInString(oneLine(m.Name)))
	}
	column = min(column, t.width/2-4)
	for _, m := range o.Models {
		t.model(m, column)
	}
}

// model is a line for a model; more where what is known of it needs them.
func (t *modelsWriter) model(m call.Model, column int) {
	mark := " "
	if m.Default {
		mark = t.style.green("*")
	}
	head := "  " + mark + " "
	if name := oneLine(m.Name); utf8.RuneCountInString(name) > column { // which somebody may want to copy
		t.text.WriteString(head + shorten(name, t.width-4) + "\n")
		if about := aboutModel(m); about != "" {
			t.lines(strings.Repeat(" ", column+6), column+6, about)
		}
		return
	}
	t.lines(head+cells(m.Name, column)+"  ", column+6, aboutModel(m))
}

// lines writes a text behind a head of so many columns, on as many lines as it needs.
func (t *modelsWriter) lines(head string, indent int, text string) {
	lines := wrap(oneLine(text), t.width-indent)
	if len(lines) == 0 {
		lines = []string{""}
	}
	for _, line := range lines {
		t.text.WriteString(strings.TrimRight(head+line, " ") + "\n")
		head = strings.Repeat(" ", indent)
	}
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
	kept := parts[:0]
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, ", ")
}

// tokens is a number of tokens in thousands, where it is a round one.
func tokens(n int64) string {
	if n%1000 == 0 {
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
