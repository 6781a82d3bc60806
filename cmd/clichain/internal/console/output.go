package console

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"go.yaml.in/yaml/v4"
)

// WriteJSON prints a value as JSON, on one line or indented.
func WriteJSON(w io.Writer, value any, indent bool) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(value); err != nil {
		return OutputError(err)
	}
	data := text.Bytes()
	if terminal.Is(w) { // JSON does not escape all control characters
		data = []byte(terminal.Visible(text.String()))
	}
	_, err := w.Write(data)
	return OutputError(err)
}

// WriteYAML prints the JSON form of a value as YAML: fields keep their names and their order.
func WriteYAML(w io.Writer, value any) error {
	var text bytes.Buffer
	if err := WriteJSON(&text, value, false); err != nil {
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
		return OutputError(err)
	}
	return OutputError(d.Close())
}

// toBlocks changes lists and maps to the block style and removes unnecessary quotes. A short list of scalars stays on
// one line.
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
