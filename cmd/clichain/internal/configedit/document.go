package configedit

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// document is the content of a settings file. Changing it keeps comments and the order of the other fields.
type document struct {
	root     *yaml.Node // nil: the file has no fields
	comments []byte     // the text of a file without fields
}

// parse reads a valid settings file.
func parse(data []byte) *document {
	var root yaml.Node
	if err := yaml.Load(data, &root); err != nil || root.Content[0].Kind != yaml.MappingNode {
		return &document{comments: data} // YAML has an error for a file without a document
	}
	return &document{root: &root}
}

// set sets a field of the document, or of a profile unless profile is empty.
func (d *document) set(profile, name string, values []string, list bool) {
	if d.root == nil {
		d.root = &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	fields := d.root.Content[0]
	if profile != "" {
		fields = child(child(fields, "profiles"), profile)
	}
	value := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, text := range values {
		value.Content = append(value.Content, scalar(fields, text))
	}
	if !list {
		value = scalar(fields, values[0])
	}
	at := index(fields, name)
	if at < 0 {
		fields.Content = append(fields.Content, scalar(fields, name), value)
		return
	}
	old := fields.Content[at+1]
	value.HeadComment, value.LineComment, value.FootComment = old.HeadComment, old.LineComment, old.FootComment
	fields.Content[at+1] = value
}

// unset removes a field of the document or of a profile, and reports whether there was one. It removes a profile that
// has no other field.
func (d *document) unset(profile, name string) bool {
	if d.root == nil {
		return false
	}
	fields := d.root.Content[0]
	if profile == "" {
		return remove(fields, name)
	}
	profiles := find(fields, "profiles")
	settings := find(profiles, profile)
	if !remove(settings, name) {
		return false
	}
	if len(settings.Content) == 0 {
		remove(profiles, profile)
	}
	if len(profiles.Content) == 0 {
		remove(fields, "profiles")
	}
	return true
}

// text returns the document as YAML.
func (d *document) text() ([]byte, error) {
	var out bytes.Buffer
	out.Write(d.comments)
	if len(d.comments) > 0 && !bytes.HasSuffix(d.comments, []byte("\n")) {
		out.WriteByte('\n')
	}
	if d.root == nil {
		return out.Bytes(), nil
	}
	if fields := d.root.Content[0]; len(fields.Content) == 0 {
		for _, comment := range []string{d.root.HeadComment, fields.HeadComment, fields.FootComment, d.root.FootComment} {
			if comment != "" {
				out.WriteString(strings.TrimRight(comment, "\n") + "\n")
			}
		}
		return out.Bytes(), nil
	}
	dumper, err := yaml.NewDumper(&out, yaml.WithLineWidth(-1), yaml.WithIndent(2))
	if err != nil {
		return nil, err
	}
	if err := dumper.Dump(d.root); err != nil {
		return nil, err
	}
	return out.Bytes(), dumper.Close()
}

// scalar makes a text. In a file of JSON it has quotes.
func scalar(parent *yaml.Node, text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if len(parent.Content) > 0 {
		n.Style = parent.Content[0].Style & (yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle)
	}
	return n
}

// index returns the index of a key among the fields, or -1.
func index(fields *yaml.Node, name string) int {
	if fields == nil || fields.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i+1 < len(fields.Content); i += 2 {
		if fields.Content[i].Value == name {
			return i
		}
	}
	return -1
}

func find(fields *yaml.Node, name string) *yaml.Node {
	if at := index(fields, name); at >= 0 {
		return fields.Content[at+1]
	}
	return nil
}

// child finds the fields of a key, and adds the key if there is none.
func child(fields *yaml.Node, name string) *yaml.Node {
	if found := find(fields, name); found != nil && found.Kind == yaml.MappingNode {
		return found
	}
	remove(fields, name) // a key without fields
	added := &yaml.Node{Kind: yaml.MappingNode, Style: fields.Style}
	fields.Content = append(fields.Content, scalar(fields, name), added)
	return added
}

func remove(fields *yaml.Node, name string) bool {
	at := index(fields, name)
	if at < 0 {
		return false
	}
	fields.Content = slices.Delete(fields.Content, at, at+2)
	return true
}
