package console

import (
	"regexp"
	"slices"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// Page collects lines of text for people, of at most width columns. All tables of the command are pages.
type Page struct {
	Style
	Width int
	text  strings.Builder
}

// NewPage makes a page of a width, which is 40 at least.
func NewPage(s Style, width int) *Page { return &Page{Style: s, Width: max(width, 40)} }

// String returns the text of the page.
func (p *Page) String() string { return p.text.String() }

// Line writes a line, without the blanks at its end.
func (p *Page) Line(text string) { p.text.WriteString(strings.TrimRight(text, " ") + "\n") }

// Title begins a section: a line in bold, apart from what is above it.
func (p *Page) Title(text string) {
	if p.text.Len() > 0 {
		p.Line("")
	}
	p.Line(p.Bold(terminal.Shorten(terminal.OneLine(text), p.Width)))
}

// Cut writes text behind head, as much of it as fits on the line.
func (p *Page) Cut(head, text string, paint func(string) string) {
	p.Line(head + paint(terminal.Shorten(terminal.OneLine(text), p.Width-WidthOf(head))))
}

// Hang writes text behind head, on as many lines as it needs: all but the first have blanks in place of the head. A
// word that is longer than a line is cut. Without a head and a text nothing is written.
func (p *Page) Hang(head, text string, paint func(string) string) {
	if text == "" && strings.TrimSpace(head) == "" {
		return
	}
	indent := WidthOf(head)
	lines := []string{text} // with the blanks between its words
	if terminal.Width(text) > p.Width-indent {
		lines = Wrap(text, p.Width-indent)
	}
	for _, line := range lines {
		p.Line(head + paint(line))
		head = strings.Repeat(" ", indent)
	}
}

// HangWhole is hang for a text that somebody may want to copy, such as a path: a word that is longer than a line is
// broken.
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

// Table writes rows whose cells stand below each other, with two blanks in between.
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

// Widths are the widths of the columns of rows.
func Widths(rows [][]string) (widths []int) {
	for _, row := range rows {
		widths = append(widths, make([]int, max(len(row)-len(widths), 0))...)
		for i, text := range row {
			widths[i] = max(widths[i], terminal.Width(terminal.OneLine(text)))
		}
	}
	return widths
}

// Widest is the width of the widest text, and at most limit.
func Widest(texts []string, limit int) (width int) {
	for _, text := range texts {
		width = max(width, terminal.Width(terminal.OneLine(text)))
	}
	return min(width, limit)
}

// Cell is a text of exactly that many columns.
func Cell(text string, columns int) string {
	text = terminal.Shorten(terminal.OneLine(text), columns)
	return text + strings.Repeat(" ", max(columns-terminal.Width(text), 0))
}

// Plain is text as it is.
func Plain(text string) string { return text }

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// WidthOf is the width of a text that a style may have painted.
func WidthOf(text string) int { return terminal.Width(escape.ReplaceAllString(text, "")) }

// BreakAt cuts a text into pieces of a width, none of which is lost.
func BreakAt(text string, width int) (pieces []string) {
	for piece := range slices.Chunk([]rune(text), max(width, 1)) {
		pieces = append(pieces, string(piece))
	}
	return pieces
}
