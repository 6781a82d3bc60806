package jsontext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Value validates the JSON value at the start of text, after white space, and returns the offset of its end. ok is
// false if there is no valid value or if it is nested deeper than maxDepth; end is then the offset of the error. Like
// gjson, and unlike encoding/json, it accepts invalid UTF-8 in strings.
func Value(text []byte, maxDepth int) (end int, ok bool) {
	s := scanner{text: text, depth: maxDepth}
	ok = s.value()
	return s.at, ok
}

type scanner struct {
	text  []byte
	at    int
	depth int // remaining nesting depth
}

// peek skips white space and returns the next byte, or 0 at the end of the text.
func (s *scanner) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		if c := s.text[s.at]; !blank(c) {
			return c
		}
	}
	return 0
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func (s *scanner) value() bool {
	switch c := s.peek(); {
	case c == '"':
		return s.str()
	case c == '{':
		return s.container('}')
	case c == '[':
		return s.container(']')
	case c == '-' || digit(c):
		return s.number()
	}
	return s.word("null") || s.word("false") || s.word("true")
}

func (s *scanner) container(end byte) bool {
	if s.depth == 0 {
		return false
	}
	s.depth--
	s.at++
	for first := true; ; first = false {
		c := s.peek()
		if c == end && first {
			break
		}
		if end == '}' && !s.name() || !s.value() {
			return false
		}
		if c = s.peek(); c == end {
			break
		}
		if c != ',' {
			return false
		}
		s.at++
	}
	s.at++
	s.depth++
	return true
}

func (s *scanner) name() bool {
	if s.peek() != '"' || !s.str() || s.peek() != ':' {
		return false
	}
	s.at++
	return true
}

// str reads a string. It reads eight bytes at a time while they are plain text.
func (s *scanner) str() bool {
	text, i := s.text, s.at+1
	for i < len(text) {
		if i+8 <= len(text) {
			hits := special(binary.LittleEndian.Uint64(text[i:]))
			if hits == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(hits) / 8
		}
		switch c := text[i]; {
		case c == '"':
			s.at = i + 1
			return true
		case c == '\\' && i+1 < len(text) && simple[text[i+1]]:
			i += 2
		case c == '\\' && unicode(text[i+1:]):
			i += 6
		case c == '\\' || c < ' ':
			return false
		default:
			i++
		}
	}
	return false
}

// special sets the high bit of the first byte of w that is a quote, a backslash or a control character. The bits above
// it are undefined, because a subtraction borrows from them.
func special(w uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & high
}

// simple contains the characters that may follow a backslash, except u.
var simple = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// unicode reports whether text, which follows a backslash, begins with u and four hexadecimal digits.
func unicode(text []byte) bool {
	return len(text) >= 5 && text[0] == 'u' && hex(text[1]) && hex(text[2]) && hex(text[3]) && hex(text[4])
}

func hex(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func digit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) number() bool {
	s.accept('-', '-')
	if !s.accept('0', '0') && !s.digits() || s.accept('.', '.') && !s.digits() {
		return false
	}
	if s.accept('e', 'E') {
		s.accept('+', '-')
		return s.digits()
	}
	return true
}

// accept skips the next byte if it equals a or b.
func (s *scanner) accept(a, b byte) bool {
	if s.at < len(s.text) && (s.text[s.at] == a || s.text[s.at] == b) {
		s.at++
		return true
	}
	return false
}

func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.text) && digit(s.text[s.at]) {
		s.at++
	}
	return s.at > start
}

func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.text[s.at:], []byte(w)) {
		return false
	}
	s.at += len(w)
	return true
}
