// Package console has the environment of a command: streams, styles, tables, help, errors with exit codes, and signals.
package console

import (
	"io"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// Env is the environment of a command. Tests replace it.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Shim     bool // the program can be the shim of clichain.Config.Shim
}

// StyleOf returns the style for a stream: with colors only on a terminal, and not with NO_COLOR.
func (e *Env) StyleOf(w io.Writer) Style { return Style{e.Redraws(w) && e.Getenv("NO_COLOR") == ""} }

// Redraws reports whether a stream is a terminal that can redraw a line.
func (e *Env) Redraws(w io.Writer) bool { return terminal.Is(w) && e.Getenv("TERM") != "dumb" }

// PrintJSON prints a value to Out as JSON: indented on a terminal, else on one line.
func (e *Env) PrintJSON(value any) error { return WriteJSON(e.Out, value, terminal.Is(e.Out)) }

// Print prints a text to Out.
func (e *Env) Print(text string) error {
	_, err := io.WriteString(e.Out, text)
	return OutputError(err)
}

// Screen returns a screen on Out, which must be a terminal that can redraw.
func (e *Env) Screen() *terminal.Screen {
	return &terminal.Screen{Out: e.Out, Size: func() (int, int) { return Columns(e.Out), terminal.Lines(e.Out) }}
}
