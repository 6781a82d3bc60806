package jsontext

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote is the text of a valid JSON string. It shares the memory of quoted
// unless there is an escape sequence in it, which makes it shorter.
func Unquote(quoted string) string {
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

// unescape writes what the escape sequence at the start of text stands for,
// and returns the rest.
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

// meaning is the character that a letter after a backslash stands for.
var meaning = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unit is the number in \u1234.
func unit(text string) rune {
	n, _ := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n)
}
