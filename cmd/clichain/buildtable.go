package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/clichain/clichain/runs"
)

// buildTable is what a call would do, for people, in lines of up to width columns. It is a pure function, and names and
// arguments that others have chosen cannot move the cursor.
func buildTable(steps []step, paint style, width int) string {
	t := &buildWriter{style: paint, width: max(width, 40)}
	place := 0
	for i, s := range steps {
		if i > 0 {
			t.text.WriteString("\n")
		}
		if s.Skip != nil {
			t.skip(s.Backend, s.Skip)
			continue
		}
		place++
		t.command(place, s.Backend, s.Command)
	}
	return t.text.String()
}

// buildWriter collects the lines of a table.
type buildWriter struct {
	text  strings.Builder
	style style
	width int
}

func (t *buildWriter) skip(backend string, why *skip) {
	fmt.Fprintf(&t.text, "%s %s\n", t.style.yellow("–"), t.style.bold(shorten(oneLine(backend), t.width-2)))
	t.row("skipped", string(why.Reason)+": "+why.Message)
	if why.Hint != "" {
		t.row("", "→ "+why.Hint)
	}
}

func (t *buildWriter) command(place int, backend string, c *runs.Command) {
	fmt.Fprintf(&t.text, "%s %s\n", t.style.green(fmt.Sprint(place)), t.style.bold(shorten(oneLine(backend), t.width-2)))
	t.row("program", c.Path)
	words := make([]string, len(c.Args))
	for i, arg := range c.Args {
		words[i] = shellWord(oneLine(arg))
	}
	t.row("arguments", strings.Join(words, " "))
	dir := c.Dir
	if c.Empty {
		dir += ", which is empty"
	}
	t.row("directory", dir)
	t.row("model", c.Model)
	stdin := "closed"
	if c.Stdin > 0 {
		stdin = fmt.Sprintf("%d bytes", c.Stdin)
	}
	t.row("stdin", stdin)
	for _, f := range c.Files {
		t.row("file", fmt.Sprintf("%s, %d bytes", f.Path, f.Size))
	}
	t.row("variables", strings.Join(c.Env, " "))
}

// row writes a label and a value, on as many lines as that needs; without a value it writes nothing.
func (t *buildWriter) row(label, value string) {
	head := fmt.Sprintf("  %-9s  ", label)
	for _, line := range wrap(oneLine(value), t.width-len(head)) {
		t.text.WriteString(t.style.dim(head) + line + "\n")
		head = strings.Repeat(" ", len(head))
	}
}

var bareWord = regexp.MustCompile(`^[\w./:=@%+,{}-]+$`)

// shellWord is an argument as a shell takes it.
func shellWord(arg string) string {
	if bareWord.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
