package console

import (
	"io"
	"math"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// Columns returns the width of the output: that of the terminal, at most 110, or 80 without a terminal.
func Columns(w io.Writer) int {
	if width := terminal.Columns(w); width > 0 {
		return min(width, 110)
	}
	return 80
}

// LineWidth returns Columns for a terminal. Without a terminal the width has no limit, so that programs read whole
// texts.
func LineWidth(w io.Writer) int {
	if terminal.Is(w) {
		return Columns(w)
	}
	return math.MaxInt
}

// Style adds escape codes for bold and colors to texts if On is true.
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
