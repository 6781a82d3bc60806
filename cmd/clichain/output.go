package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"go.yaml.in/yaml/v4"
)

// writeJSON prints a value on one line, or indented for people.
func writeJSON(w io.Writer, value any, indent bool) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(value); err != nil {
		return outputError(err)
	}
	data := text.Bytes()
	if isTerminal(w) { // which some characters that JSON does not escape could move
		data = []byte(visible(text.String()))
	}
	_, err := w.Write(data)
	return outputError(err)
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

func visible(s string) string { return terminal.Visible(s) }

func oneLine(s string) string { return terminal.OneLine(s) }

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return oneLine(s[strings.LastIndexByte(s, '\n')+1:])
}

func shorten(s string, width int) string { return terminal.Shorten(s, width) }

// wrap breaks a text between words into lines of a width; a word that is too long is cut.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = shorten(word, width)
		switch {
		case line == "":
			line = word
		case terminal.Width(line)+1+terminal.Width(word) <= width:
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

func isTerminal(stream any) bool { return terminal.Is(stream) }

// columns is the width to write for: that of the terminal, up to 110, else 80.
func columns(w io.Writer) int {
	if width := terminal.Columns(w); width > 0 {
		return min(width, 110)
	}
	return 80
}

// edge is the width of a terminal, as columns has it. Who reads a pipe looks for words, and has no edge.
func edge(w io.Writer) int {
	if isTerminal(w) {
		return columns(w)
	}
	return math.MaxInt
}

// style paints text for a terminal that wants it, and for no other reader.
type style struct{ on bool }

func (a *app) styleOf(w io.Writer) style { return style{a.moves(w) && a.env("NO_COLOR") == ""} }

// moves reports whether a stream goes to a terminal that understands more than text.
func (a *app) moves(w io.Writer) bool { return isTerminal(w) && a.env("TERM") != "dumb" }

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
