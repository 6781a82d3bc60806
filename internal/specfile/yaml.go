package specfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v4"
)

// yamlReader converts YAML to nodes and resolves aliases.
type yamlReader struct{ builder }

// parseYAML parses all documents, or returns the syntax error in notYAML.
func parseYAML(data []byte) (documents []*Node, mistakes []Mistake, notYAML *Mistake) {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, nil, &Mistake{Problem: err.Error()}
	}
	r := &yamlReader{}
	for {
		var document yaml.Node
		if err := loader.Load(&document); errors.Is(err, io.EOF) {
			return documents, r.mistakes, nil
		} else if err != nil {
			return nil, nil, syntaxMistake(data, err)
		}
		for _, content := range document.Content {
			n := r.value(content, 0)
			if r.full {
				return nil, r.mistakes, nil
			}
			if n.Kind != Null {
				documents = append(documents, n)
			}
		}
	}
}

func syntaxMistake(data []byte, err error) *Mistake {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return &Mistake{Problem: err.Error()}
	}
	m := &Mistake{Place: Place{e.Mark.Line, e.Mark.Column}, Problem: e.Message}
	if bytes.ContainsRune(indent(data, m.Line), '\t') {
		m.Problem = "tabs cannot indent: use spaces"
		return m
	}
	if e.ContextMsg != "" {
		m.Problem += " " + e.ContextMsg
	}
	if from := (Place{e.ContextMark.Line, e.ContextMark.Column}); from.Line > 0 && from != m.Place {
		m.Problem += fmt.Sprintf(" that begins at %s", from)
	}
	return m
}

// indent returns the white space at the start of a line.
func indent(data []byte, line int) []byte {
	lines := bytes.Split(data, []byte{'\n'})
	if line < 1 || line > len(lines) {
		return nil
	}
	text := lines[line-1]
	return text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
}

var yamlKinds = map[string]Kind{"!!str": Text, "!!int": Number, "!!float": Number, "!!bool": Bool, "!!null": Null}

func (r *yamlReader) value(from *yaml.Node, depth int) *Node {
	n := &Node{Place: Place{from.Line, from.Column}}
	if !r.admit(n.Place, depth) {
		return nil
	}
	if from.Style&yaml.TaggedStyle != 0 {
		n.Tag = from.Tag
	}
	switch from.Kind {
	case yaml.AliasNode:
		return r.value(from.Alias, depth+1) // a recursive alias exceeds the depth
	case yaml.SequenceNode:
		n.Kind = List
		for _, item := range from.Content {
			n.Items = append(n.Items, r.value(item, depth+1))
		}
	case yaml.MappingNode:
		n.Kind = Map
		r.entries(n, from.Content, depth+1)
	case yaml.ScalarNode:
		n.Kind, n.Value, n.Plain = Text, from.Value, from.Style&quoted == 0
		if n.Plain {
			n.Kind = plainKind(from)
		}
	}
	return n
}

const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// plainKind returns the kind of a value without quotes. Types that JSON lacks, such as dates, become text.
func plainKind(from *yaml.Node) Kind {
	if kind, ok := yamlKinds[from.ShortTag()]; ok {
		return kind
	}
	return Text
}

func (r *yamlReader) entries(n *Node, content []*yaml.Node, depth int) {
	for i := 0; i+1 < len(content) && !r.full; i += 2 {
		key, at := content[i], Place{content[i].Line, content[i].Column}
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			r.add(at, "a key must be a string")
		case key.Tag == "!!merge":
			r.add(at, "<< is not supported: copy the fields of the other map")
		default:
			n.Entries = append(n.Entries, Entry{key.Value, at, r.value(content[i+1], depth)})
		}
	}
}
