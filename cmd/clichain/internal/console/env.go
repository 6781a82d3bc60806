// Package console is the surroundings of a command: streams, styles, tables, errors with their exit statuses, signals.
package console

import (
	"io"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// Env is what a command has of the process that it runs in; tests replace it.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Shim     bool // clichain.Config.Shim works
}

// StyleOf is the style of what a stream gets.
func (e *Env) StyleOf(w io.Writer) Style { return Style{e.Redraws(w) && e.Getenv("NO_COLOR") == ""} }

// Redraws reports whether a stream goes to a terminal on which a line can be drawn again.
func (e *Env) Redraws(w io.Writer) bool { return terminal.Is(w) && e.Getenv("TERM") != "dumb" }

// PrintJSON prints a value to the output: indented on a terminal, else on one line.
func (e *Env) PrintJSON(value any) error { return WriteJSON(e.Out, value, terminal.Is(e.Out)) }

// Print prints a text to the output.
func (e *Env) Print(text string) error {
	_, err := io.WriteString(e.Out, text)
	return OutputError(err)
}
