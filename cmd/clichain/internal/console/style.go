package console

import (
	"io"
	"math"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// Columns is the width to write for: that of the terminal, up to 110, else 80.
func Columns(w io.Writer) int {
	if width := terminal.Columns(w); width > 0 {
		return min(width, 110)
	}
	return 80
}

// LineWidth is the width of a terminal, as Columns has it. Lines for other readers have no limit, so that a program
// finds whole texts.
func LineWidth(w io.Writer) int {
	if terminal.Is(w) {
		return Columns(w)
	}
	return math.MaxInt
}

// Style paints text where On is true, and leaves it as it is elsewhere.
type Style struct{ On bool }

func (s Style) paint(code, text string) string {
	if !s.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold returns the text in bold.
func (s Style) Bold(text string) string { return s.paint("1", text) }

// Dim returns the text in a fainter color.
func (s Style) Dim(text string) string { return s.paint("2", text) }

// Red returns the text in red.
func (s Style) Red(text string) string { return s.paint("31", text) }

// Green returns the text in green.
func (s Style) Green(text string) string { return s.paint("32", text) }

// Yellow returns the text in yellow.
func (s Style) Yellow(text string) string { return s.paint("33", text) }
