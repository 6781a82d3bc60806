package tree

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// pathText returns a path for Changes. It is the path itself, unless that is not UTF-8 or begins with a quotation mark:
// such a path is quoted as git quotes it.
func pathText(path string) string {
	if utf8.ValidString(path) && !strings.HasPrefix(path, `"`) {
		return path
	}
	return quote(path)
}

// quoted returns a path as git writes it in a patch: in quotation marks if it has bytes that need them.
func quoted(path string) string {
	for i := range len(path) {
		if c := path[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return quote(path)
		}
	}
	return path
}

const (
	escaped = "\a\b\t\n\v\f\r\"\\"
	escapes = `abtnvfr"\`
)

func quote(path string) string {
	var text strings.Builder
	text.WriteByte('"')
	for i := range len(path) {
		c := path[i]
		if at := strings.IndexByte(escaped, c); at >= 0 {
			text.WriteString(`\` + escapes[at:at+1])
		} else if c < ' ' || c >= 0x7f {
			fmt.Fprintf(&text, "\\%03o", c)
		} else {
			text.WriteByte(c)
		}
	}
	return text.String() + `"`
}

// unquote parses a path in quotation marks at the beginning of text and returns the rest.
func unquote(text string) (path, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			return b.String(), text[i+1:], true
		case '\\':
			i++
			if i == len(text) {
				return "", "", false
			}
			if at := strings.IndexByte(escapes, text[i]); at >= 0 {
				b.WriteByte(escaped[at])
				continue
			}
			var n byte
			if i+3 > len(text) || text[i] > '3' {
				return "", "", false
			}
			for _, digit := range []byte(text[i : i+3]) {
				if digit < '0' || digit > '7' {
					return "", "", false
				}
				n = n<<3 | (digit - '0')
			}
			b.WriteByte(n)
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
