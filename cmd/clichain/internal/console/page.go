package console

import (
	"slices"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// Page collects lines of text of at most Width columns. All tables of the command are pages.
type Page struct {
	Style
	Width int
	text  strings.Builder
}

// NewPage makes a page. A width below 40 is taken as 40.
func NewPage(s Style, width int) *Page { return &Page{Style: s, Width: max(width, 40)} }

// String returns the text of the page.
func (p *Page) String() string { return p.text.String() }

// Line writes a line without trailing blanks.
func (p *Page) Line(text string) { p.text.WriteString(strings.TrimRight(text, " ") + "\n") }

// Title begins a section: a line in bold after a blank line.
func (p *Page) Title(text string) {
	if p.text.Len() > 0 {
		p.Line("")
	}
	p.Line(p.Bold(terminal.Shorten(terminal.OneLine(text), p.Width)))
}

// Cut writes head and then text, which it shortens to fit on the line.
func (p *Page) Cut(head, text string, paint func(string) string) {
	p.Line(head + paint(terminal.Shorten(terminal.OneLine(text), p.Width-WidthOf(head))))
}

// Hang writes head and then text with a hanging indent. A word that is longer than a line is shortened. If head and
// text are empty, Hang writes nothing.
func (p *Page) Hang(head, text string, paint func(string) string) {
	if text == "" && strings.TrimSpace(head) == "" {
		return
	}
	indent := WidthOf(head)
	lines := []string{text} // keeps the blanks between the words
	if terminal.Width(text) > p.Width-indent {
		lines = Wrap(text, p.Width-indent)
	}
	for _, line := range lines {
		p.Line(head + paint(line))
		head = strings.Repeat(" ", indent)
	}
}

// HangWhole is Hang for a text that users may copy, such as a path: it breaks a word that is longer than a line.
func (p *Page) HangWhole(head, text string, paint func(string) string) {
	if room := p.Width - WidthOf(head); terminal.Width(text) > room {
		words := strings.Fields(text)
		for i, word := range words {
			words[i] = strings.Join(BreakAt(word, room), " ")
		}
		text = strings.Join(words, " ")
	}
	p.Hang(head, text, paint)
}

// Table writes rows with aligned columns, separated by two blanks.
func (p *Page) Table(rows [][]string) {
	widths := Widths(rows)
	for _, row := range rows {
		line := ""
		for i, text := range row {
			line += Cell(text, widths[i]) + "  "
		}
		p.Line(line)
	}
}

// Widths returns the widths of the columns of rows.
func Widths(rows [][]string) (widths []int) {
	for _, row := range rows {
		widths = append(widths, make([]int, max(len(row)-len(widths), 0))...)
		for i, text := range row {
			widths[i] = max(widths[i], terminal.Width(terminal.OneLine(text)))
		}
	}
	return widths
}

// Widest returns the width of the widest text, at most limit.
func Widest(texts []string, limit int) (width int) {
	for _, text := range texts {
		width = max(width, terminal.Width(terminal.OneLine(text)))
	}
	return min(width, limit)
}

// Cell returns text, padded or shortened to width columns.
func Cell(text string, columns int) string {
	text = terminal.Shorten(terminal.OneLine(text), columns)
	return text + strings.Repeat(" ", max(columns-terminal.Width(text), 0))
}

// Plain returns text unchanged.
func Plain(text string) string { return text }

// WidthOf returns the width of a text without its escape codes.
func WidthOf(text string) int { return terminal.StyledWidth(text) }

// BreakAt splits a text into pieces of at most width columns.
func BreakAt(text string, width int) (pieces []string) {
	for piece := range slices.Chunk([]rune(text), max(width, 1)) {
		pieces = append(pieces, string(piece))
	}
	return pieces
}
