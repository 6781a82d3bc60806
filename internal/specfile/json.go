package specfile

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// jsonReader converts valid JSON text to nodes.
type jsonReader struct {
	builder
	data    []byte
	decoder *json.Decoder
	counted int // offset up to which place has counted
	place   Place
}

func parseJSON(data []byte) ([]*Node, []Mistake) {
	r := &jsonReader{data: data, decoder: json.NewDecoder(bytes.NewReader(data)), place: Place{1, 1}}
	r.decoder.UseNumber()
	n := r.value(0)
	if r.full || n.Kind == Null {
		return nil, r.mistakes
	}
	return []*Node{n}, r.mistakes
}

func (r *jsonReader) next() (json.Token, Place) {
	start := int(r.decoder.InputOffset())
	for start < len(r.data) && bytes.IndexByte([]byte(" \t\r\n:,"), r.data[start]) >= 0 {
		start++
	}
	for _, c := range string(r.data[r.counted:start]) {
		if r.place.Column++; c == '\n' {
			r.place = Place{r.place.Line + 1, 1}
		}
	}
	r.counted = start
	token, _ := r.decoder.Token() // cannot fail after checkJSON
	return token, r.place
}

func (r *jsonReader) value(depth int) *Node {
	token, at := r.next()
	if !r.admit(at, depth) {
		return nil
	}
	n := &Node{Place: at}
	switch token := token.(type) {
	case string:
		n.Kind, n.Value = Text, token
	case json.Number:
		n.Kind, n.Value = Number, token.String()
	case bool:
		n.Kind, n.Value = Bool, fmt.Sprint(token)
	case json.Delim:
		n.Kind = map[json.Delim]Kind{'[': List, '{': Map}[token]
		r.content(n, depth+1)
	}
	return n
}

func (r *jsonReader) content(n *Node, depth int) {
	for r.decoder.More() && !r.full {
		if n.Kind == List {
			n.Items = append(n.Items, r.value(depth))
			continue
		}
		key, at := r.next()
		name, _ := key.(string)
		n.Entries = append(n.Entries, Entry{name, at, r.value(depth)})
	}
	if !r.full {
		r.next() // reads the closing bracket
	}
}
