package jsontext

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

const (
	indexed    = 3    // levels of nested objects to index; deeper ones are read when first needed
	maxIndexed = 4096 // members to index in one text, for the same reason: few rules read results with thousands
)

// Parse validates the object of a new line like [ParseObject], and indexes its members. It reuses the memory of the
// previous object.
func (o *Object) Parse(line []byte) (ok bool) {
	return o.parse(line) || hasEscapes(line) && o.parse(plainText(line))
}

func (o *Object) parse(line []byte) bool {
	line = trimmed(line)
	o.root, o.members, o.first = gjson.Result{}, o.members[:0], none
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	s := scanner{text: line, depth: MaxDepth}
	first, ok := s.members(o, indexed)
	if !ok || s.at < len(line) {
		o.members = o.members[:0]
		return false
	}
	o.root, o.first = gjson.Result{Type: gjson.JSON, Raw: inPlace(line)}, first
	return true
}

// trimmed returns a line without a byte order mark and the white space around its value.
func trimmed(line []byte) []byte { return bytes.Trim(bytes.TrimPrefix(line, byteOrderMark), jsonSpace) }

// members validates an object like container, and adds its members to o. It also adds the members of nested objects,
// down to the given number of levels.
func (s *scanner) members(o *Object, levels int) (first int, ok bool) {
	if s.depth == 0 {
		return none, false
	}
	s.depth--
	s.at++
	list := o.list()
	for more := s.peek() != '}'; more; {
		i := list.add(member{inner: unread})
		if o.members[i].name, ok = s.decodedName(); !ok {
			return none, false
		}
		begin := s.begin()
		if levels > 0 && begin < len(s.text) && s.text[begin] == '{' && len(o.members) < maxIndexed {
			inner, closed := s.members(o, levels-1)
			o.members[i].inner, ok = inner, closed
		} else {
			ok = s.value()
		}
		if !ok {
			return none, false
		}
		o.members[i].value = inPlace(s.text[begin:s.at])
		switch s.peek() {
		case ',':
			s.at++
		case '}':
			more = false
		default:
			return none, false
		}
	}
	s.at++
	s.depth++
	return list.first, true
}

// decodedName reads a name and the colon.
func (s *scanner) decodedName() (name string, ok bool) {
	begin := s.begin()
	if begin == len(s.text) || s.text[begin] != '"' || !s.str() {
		return "", false
	}
	name = inPlace(s.text[begin+1 : s.at-1])
	if strings.IndexByte(name, '\\') >= 0 {
		name = unquote(inPlace(s.text[begin:s.at]))
	}
	if s.peek() != ':' {
		return "", false
	}
	s.at++
	return name, true
}

// begin skips white space and returns the offset of the next token.
func (s *scanner) begin() int {
	s.peek()
	return s.at
}
