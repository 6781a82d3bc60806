package ask

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/runs"
)

// buildTable returns a table of what a call would do, in lines of up to width columns. Control characters in names and
// arguments are escaped.
func buildTable(steps []Step, paint console.Style, width int) string {
	p := console.NewPage(paint, width)
	place := 0
	for i, s := range steps {
		if i > 0 {
			p.Line("")
		}
		if s.Skip != nil {
			p.Cut(p.Yellow("–")+" ", s.Backend, p.Bold)
			stepRow(p, "skipped", string(s.Skip.Reason)+": "+s.Skip.Message)
			if s.Skip.Hint != "" {
				stepRow(p, "", "→ "+s.Skip.Hint)
			}
			continue
		}
		place++
		p.Cut(p.Green(fmt.Sprint(place))+" ", s.Backend, p.Bold)
		commandRows(p, s.Command)
	}
	return p.String()
}

func commandRows(p *console.Page, c *runs.Command) {
	stepRow(p, "program", c.Path)
	words := make([]string, len(c.Args))
	for i, arg := range c.Args {
		words[i] = shellWord(terminal.OneLine(arg))
	}
	stepRow(p, "arguments", strings.Join(words, " "))
	dir := c.Dir
	if c.Empty {
		dir += ", which is empty"
	}
	stepRow(p, "directory", dir)
	stepRow(p, "confined", c.Confined)
	for _, g := range c.Grants {
		stepRow(p, "", fmt.Sprintf("%-3s %s", g.Access, g.Path))
	}
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
func stepRow(p *console.Page, label, value string) {
	if value != "" {
		p.Hang(p.Dim(fmt.Sprintf("  %-9s  ", label)), terminal.OneLine(value), console.Plain)
	}
}

var bareWord = regexp.MustCompile(`^[\w./:=@%+,{}-]+$`)

// shellWord quotes an argument for a shell.
func shellWord(arg string) string {
	if bareWord.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
