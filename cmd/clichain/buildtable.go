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
	p := newPage(paint, width)
	place := 0
	for i, s := range steps {
		if i > 0 {
			p.line("")
		}
		if s.Skip != nil {
			p.cut(p.yellow("–")+" ", s.Backend, p.bold)
			stepRow(p, "skipped", string(s.Skip.Reason)+": "+s.Skip.Message)
			if s.Skip.Hint != "" {
				stepRow(p, "", "→ "+s.Skip.Hint)
			}
			continue
		}
		place++
		p.cut(p.green(fmt.Sprint(place))+" ", s.Backend, p.bold)
		commandRows(p, s.Command)
	}
	return p.String()
}

func commandRows(p *page, c *runs.Command) {
	stepRow(p, "program", c.Path)
	words := make([]string, len(c.Args))
	for i, arg := range c.Args {
		words[i] = shellWord(oneLine(arg))
	}
	stepRow(p, "arguments", strings.Join(words, " "))
	dir := c.Dir
	if c.Empty {
		dir += ", which is empty"
	}
	stepRow(p, "directory", dir)
	stepRow(p, "model", c.Model)
	stdin := "closed"
	if c.Stdin > 0 {
		stdin = fmt.Sprintf("%d bytes", c.Stdin)
	}
	stepRow(p, "stdin", stdin)
	for _, f := range c.Files {
		stepRow(p, "file", fmt.Sprintf("%s, %d bytes", f.Path, f.Size))
	}
	stepRow(p, "variables", strings.Join(c.Env, " "))
}

// stepRow writes a label and a value; without a value it writes nothing.
func stepRow(p *page, label, value string) {
	if value != "" {
		p.hang(p.dim(fmt.Sprintf("  %-9s  ", label)), oneLine(value), unpainted)
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
