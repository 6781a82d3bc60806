package jsontext

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// members yields the names and values of a valid JSON object as JSON text. For any other text it yields nothing.
func members(object string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		i := inside(object, '{')
		for i < len(object) && object[i] == '"' {
			name := object[i:skip(object, i)]
			i = next(object, i+len(name)) // skips the colon
			value := object[i:skip(object, i)]
			if !yield(name, value) {
				return
			}
			i = next(object, i+len(value))
		}
	}
}

// Members yields each member of a valid JSON object as an object {"key":…,"value":…}. For any other text it yields
// nothing.
func Members(object string) iter.Seq[string] {
	return func(yield func(member string) bool) {
		for name, value := range members(object) {
			if !yield(`{"key":` + name + `,"value":` + value + `}`) {
				return
			}
		}
	}
}

// Names yields the decoded names of all members in a valid JSON text, at any depth. It yields duplicate names each time
// that they appear.
func Names(text string) iter.Seq[string] {
	return func(yield func(name string) bool) { names(strings.TrimSpace(text), yield) }
}

func names(value string, yield func(name string) bool) (goOn bool) {
	for quoted, inner := range members(value) {
		if !yield(unquote(quoted)) || !names(inner, yield) {
			return false
		}
	}
	for element := range Elements(value) {
		if !names(element, yield) {
			return false
		}
	}
	return true
}

// Elements yields the elements of a valid JSON array as JSON text. For any other text it yields nothing.
func Elements(array string) iter.Seq[string] {
	return func(yield func(value string) bool) {
		i := inside(array, '[')
		for i < len(array) && array[i] != ']' {
			value := array[i:skip(array, i)]
			if value == "" || !yield(value) {
				return
			}
			i = next(array, i+len(value))
		}
	}
}

func inside(text string, open byte) int {
	if text == "" || text[0] != open {
		return len(text)
	}
	return next(text, 1)
}

func next(text string, i int) int {
	for i < len(text) && (blank(text[i]) || text[i] == ',' || text[i] == ':') {
		i++
	}
	return i
}

func skip(text string, i int) int {
	if i >= len(text) {
		return i
	}
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{', '[':
		n, _ := balanced(text[i:])
		return i + n
	}
	for i < len(text) && text[i] > ' ' && text[i] != ',' && text[i] != '}' && text[i] != ']' {
		i++
	}
	return i
}

// balanced returns the end of the bracket expression at the start of text. It counts only brackets outside quotes: the
// text between them need not be valid JSON.
func balanced(text string) (end int, closed bool) {
	depth := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '"':
			i = skipString(text, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if i++; depth == 0 {
			return i, true
		}
	}
	return len(text), false
}

// skipString returns the end of the string that begins at i. It searches only for quotes, which is faster than looking
// at each byte.
func skipString(text string, i int) int {
	for i++; ; {
		n := strings.IndexByte(text[i:], '"')
		if n < 0 {
			return len(text)
		}
		slashes := 0
		for slashes < n && text[i+n-1-slashes] == '\\' {
			slashes++
		}
		if i += n + 1; slashes%2 == 0 {
			return i
		}
	}
}

// unquote returns the text of a valid JSON string. It shares the memory of quoted if the string has no escape sequence.
func unquote(quoted string) string {
	text := quoted[1 : len(quoted)-1]
	n := strings.IndexByte(text, '\\')
	if n < 0 {
		return text
	}
	var plain strings.Builder
	for plain.Grow(len(text)); n >= 0; n = strings.IndexByte(text, '\\') {
		plain.WriteString(text[:n])
		text = unescape(&plain, text[n:])
	}
	plain.WriteString(text)
	return plain.String()
}

// unescape writes the character of the escape sequence at the start of text, and returns the text after it.
func unescape(plain *strings.Builder, text string) string {
	if text[1] != 'u' {
		plain.WriteByte(meaning[text[1]])
		return text[2:]
	}
	r, rest := unit(text), text[6:]
	if utf16.IsSurrogate(r) {
		low := rune(utf8.RuneError)
		if strings.HasPrefix(rest, `\u`) {
			low = unit(rest)
		}
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			rest = rest[6:]
		}
	}
	plain.WriteRune(r)
	return rest
}

// meaning maps the byte after a backslash to the character that it stands for.
var meaning = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unit returns the number in \u1234.
func unit(text string) rune {
	n, _ := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n)
}
