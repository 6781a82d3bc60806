package jsontext

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

const (
	indexed    = 3    // objects in objects whose members are found; deeper ones are read at the first need
	maxIndexed = 4096 // members of one text, for the same: few rules look into a result with thousands
)

// Parse reads the object of another line as [ParseObject] does, and finds its members meanwhile.
// It reuses the memory of the last.
func (o *Object) Parse(line []byte) (ok bool) {
	return o.parse(line) || coloured(line) && o.parse(plainText(line))
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

// trimmed is a line without what may stand around its value.
func trimmed(line []byte) []byte { return bytes.Trim(bytes.TrimPrefix(line, byteOrderMark), jsonSpace) }

// members reads an object, as container does, and adds its members to o, with those of so many levels in it.
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

// begin skips blanks and returns where the next token begins.
func (s *scanner) begin() int {
	s.peek()
	return s.at
}
