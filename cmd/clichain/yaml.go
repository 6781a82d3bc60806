package main

import (
	"bytes"
	"io"

	"go.yaml.in/yaml/v4"
)

// writeYAML prints a value as its JSON form would, in YAML: fields keep their
// names and their order.
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

// toBlocks makes lists and maps lines instead of brackets, and takes the quotes
// off where nothing needs them. Short lists of arguments stay on one line.
func toBlocks(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.SequenceNode && short(n) {
		n.Style = yaml.FlowStyle
	}
	for _, child := range n.Content {
		toBlocks(child)
	}
}

func short(n *yaml.Node) bool {
	const most = 80
	length := 0
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return false
		}
		length += len(item.Value) + len(", ")
	}
	return length <= most
}
