package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// page collects lines of text for people, of at most width columns. All tables of the command are pages.
type page struct {
	style
	width int
	text  strings.Builder
}

// newPage makes a page of a width, which is 40 at least.
func newPage(s style, width int) *page { return &page{style: s, width: max(width, 40)} }

func (p *page) String() string { return p.text.String() }

// line writes a line, without the blanks at its end.
func (p *page) line(text string) { p.text.WriteString(strings.TrimRight(text, " ") + "\n") }

// title begins a section: a line in bold, apart from what is above it.
func (p *page) title(text string) {
	if p.text.Len() > 0 {
		p.line("")
	}
	p.line(p.bold(shorten(oneLine(text), p.width)))
}

// cut writes text behind head, as much of it as fits on the line.
func (p *page) cut(head, text string, paint func(string) string) {
	p.line(head + paint(shorten(oneLine(text), p.width-columnsOf(head))))
}

// hang writes text behind head, on as many lines as it needs: all but the first have blanks in place of the head. A
// word that is longer than a line is cut. Without a head and a text nothing is written.
func (p *page) hang(head, text string, paint func(string) string) {
	if text == "" && strings.TrimSpace(head) == "" {
		return
	}
	indent := columnsOf(head)
	lines := []string{text} // with the blanks between its words
	if terminal.Width(text) > p.width-indent {
		lines = wrap(text, p.width-indent)
	}
	for _, line := range lines {
		p.line(head + paint(line))
		head = strings.Repeat(" ", indent)
	}
}

// hangWhole is hang for a text that somebody may want to copy, such as a path: a word that is longer than a line is
// broken.
func (p *page) hangWhole(head, text string, paint func(string) string) {
	if room := p.width - columnsOf(head); terminal.Width(text) > room {
		words := strings.Fields(text)
		for i, word := range words {
			words[i] = strings.Join(breakAt(word, room), " ")
		}
		text = strings.Join(words, " ")
	}
	p.hang(head, text, paint)
}

// table writes rows whose cells stand below each other, with two blanks in between.
func (p *page) table(rows [][]string) {
	widths := widthsOf(rows)
	for _, row := range rows {
		line := ""
		for i, text := range row {
			line += cells(text, widths[i]) + "  "
		}
		p.line(line)
	}
}

// widthsOf are the widths of the columns of rows.
func widthsOf(rows [][]string) (widths []int) {
	for _, row := range rows {
		widths = append(widths, make([]int, max(len(row)-len(widths), 0))...)
		for i, text := range row {
			widths[i] = max(widths[i], terminal.Width(oneLine(text)))
		}
	}
	return widths
}

// widest is the width of the widest text, and at most limit.
func widest(texts []string, limit int) (width int) {
	for _, text := range texts {
		width = max(width, terminal.Width(oneLine(text)))
	}
	return min(width, limit)
}

// cells is a text of exactly that many columns.
func cells(text string, columns int) string {
	text = shorten(oneLine(text), columns)
	return text + strings.Repeat(" ", max(columns-terminal.Width(text), 0))
}

// unpainted is text as it is.
func unpainted(text string) string { return text }

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// columnsOf is the width of a text that a style may have painted.
func columnsOf(text string) int { return terminal.Width(escape.ReplaceAllString(text, "")) }

// breakAt cuts a text into pieces of a width, none of which is lost.
func breakAt(text string, width int) (pieces []string) {
	for piece := range slices.Chunk([]rune(text), max(width, 1)) {
		pieces = append(pieces, string(piece))
	}
	return pieces
}
