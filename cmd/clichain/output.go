package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"golang.org/x/term"
)

// writeJSON prints a value on one line, or indented for people.
func writeJSON(w io.Writer, value any, indent bool) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	return outputError(e.Encode(value))
}

// writeYAML prints the JSON form of a value as YAML: fields keep their names and their order.
func writeYAML(w io.Writer, value any) error {
	var text bytes.Buffer
	if err := writeJSON(&text, value, false); err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Load(text.Bytes(), &document); err != nil { // JSON is YAML
		return err
	}
	toBlocks(&document)
	d, err := yaml.NewDumper(w, yaml.WithLineWidth(-1))
	if err != nil {
		return err
	}
	if err := d.Dump(&document); err != nil {
		return outputError(err)
	}
	return outputError(d.Close())
}

// toBlocks writes lists and maps as lines instead of brackets, and drops the quotes that nothing needs. Lists of
// scalars that fit on one line stay on one line.
func toBlocks(n *yaml.Node) {
	const longest = 80
	length := 0
	for _, child := range n.Content {
		toBlocks(child)
		if length += len(child.Value) + len(", "); child.Kind != yaml.ScalarNode {
			length = longest + 1
		}
	}
	n.Style = 0
	if n.Kind == yaml.SequenceNode && length <= longest {
		n.Style = yaml.FlowStyle
	}
}

// visible drops control characters, so that the text of a model or of a CLI cannot move the cursor of the terminal or
// change its title.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

func oneLine(s string) string { return visible(strings.Join(strings.Fields(s), " ")) }

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return oneLine(s[strings.LastIndexByte(s, '\n')+1:])
}

// shorten cuts a line to a number of columns; every rune counts as one.
func shorten(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return string(r[:max(width-1, 0)]) + "…"
}

// wrap breaks a text between words into lines of a width; a word that is too long is cut.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = shorten(word, width)
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line == "" {
		return lines
	}
	return append(lines, line)
}

// isTerminal reports whether a stream is a file that is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns is the width to write for: that of the terminal, up to 110, else 80.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return min(width, 110)
		}
	}
	return 80
}

// style paints text for a terminal that wants it, and for no other reader.
type style struct{ on bool }

func (a *app) styleOf(w io.Writer) style {
	return style{isTerminal(w) && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"}
}

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string   { return s.paint("1", text) }
func (s style) dim(text string) string    { return s.paint("2", text) }
func (s style) red(text string) string    { return s.paint("31", text) }
func (s style) green(text string) string  { return s.paint("32", text) }
func (s style) yellow(text string) string { return s.paint("33", text) }
