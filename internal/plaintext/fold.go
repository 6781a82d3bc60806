package plaintext

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is one byte of a folded text with the range that it comes from in the original text.
type unit struct {
	c        byte
	from, to int
}

// fold returns a normal form of a text, so that variants which look alike on a terminal or encode the same bytes
// become equal. It decodes "\xNN", "\uNNNN", "\NNN" and "%NN". It removes escape sequences, spaces, control
// characters, invisible characters, box-drawing lines, backslashes and colons. It converts letters to lower case, and
// URL base64 to standard base64.
func fold(text string) []unit { return visible(decoded(text)) }

func bytesOf(units []unit) []byte {
	b := make([]byte, len(units))
	for i, u := range units {
		b[i] = u.c
	}
	return b
}

// decoded returns the bytes of a text after decoding the escapes of strings and URLs.
func decoded(text string) []unit {
	units := make([]unit, 0, len(text))
	for i := 0; i < len(text); {
		bytes, n := decodeAt(text[i:])
		if text[i] == '\\' && len(units) > 0 && units[len(units)-1].c == 0x1b {
			bytes, n = endAt(text[i:], text[i-1] == 0x1b, bytes, n)
		}
		for k := range len(bytes) {
			units = append(units, unit{bytes[k], i, i + n})
		}
		i += n
	}
	return units
}

// endAt decodes a backslash after the ESC character. The two terminate an escape sequence, unless ESC is written as an
// escape and the backslash begins another escape.
func endAt(text string, plain bool, bytes string, n int) (string, int) {
	switch {
	case plain:
		return "\\", 1
	case strings.HasPrefix(text, `\\`):
		return "\\", 2
	}
	return bytes, n
}

// decodeAt decodes the start of a text. It returns the decoded bytes and the number of bytes that encode them.
func decodeAt(text string) (bytes string, n int) {
	switch text[0] {
	case '%':
		if c, ok := number(text, 1, 2, 16); ok {
			return string([]byte{byte(c)}), 3
		}
	case '\\':
		for n < len(text) && text[n] == '\\' {
			n++
		}
		bytes, after := escapeAt(text[n:])
		return bytes, n + after
	}
	return text[:1], 1
}

// escapeAt decodes the part of an escape after its backslashes.
func escapeAt(text string) (bytes string, n int) {
	if text == "" {
		return "", 0
	}
	switch text[0] {
	case 'n', 'r', 't', 'f', 'v', 'b', 'a':
		return "", 1
	case 'e':
		return "\x1b", 1
	case 'x':
		if c, ok := number(text, 1, 2, 16); ok {
			return string([]byte{byte(c)}), 3
		}
	case 'u':
		if c, ok := number(text, 1, 4, 16); ok {
			return string(rune(c)), 5
		}
	}
	if c, ok := number(text, 0, 3, 8); ok && c <= 0xff {
		return string([]byte{byte(c)}), 3
	}
	return "", 0
}

// number parses the given number of digits at an offset of a text.
func number(text string, from, digits, base int) (uint64, bool) {
	if len(text) < from+digits {
		return 0, false
	}
	c, err := strconv.ParseUint(text[from:from+digits], base, 32)
	return c, err == nil
}

// visible returns the units that a terminal shows, in lower case.
func visible(units []unit) []unit {
	kept := units[:0]
	for i := 0; i < len(units); {
		c := units[i].c
		switch {
		case c == 0x1b:
			i += sequence(units[i:])
			continue
		case c >= utf8.RuneSelf:
			n, shown := character(units[i:])
			if shown {
				kept = append(kept, units[i:i+n]...)
			}
			i += n
			continue
		case c > ' ' && c != 0x7f && c != '\\' && c != ':':
			kept = append(kept, unit{foldByte(c), units[i].from, units[i].to})
		}
		i++
	}
	return kept
}

func foldByte(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return c + 'a' - 'A'
	case c == '-':
		return '+'
	case c == '_':
		return '/'
	}
	return c
}

// maxSequence is the maximum length of an escape sequence in bytes. It limits how much an unterminated sequence hides
// and costs.
const maxSequence = 1 << 10

var (
	inParameters = setOf("0123456789:;<=>? !\"#$%&'()*+,-./")
	inBetween    = setOf(" !\"#$%&'()*+,-./")
	inFinal      = setOf("@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~")
)

// sequence returns the length of the escape sequence at the start of units, 1 if the sequence is not terminated.
func sequence(units []unit) int {
	units = units[:min(len(units), maxSequence)]
	switch {
	case len(units) < 2:
		return 1
	case units[1].c == '[':
		n := 2
		for n < len(units) && inParameters[units[n].c] {
			n++
		}
		if n < len(units) && inFinal[units[n].c] {
			return n + 1
		}
	case units[1].c == ']': // window title or link
		for n := 2; n < len(units); n++ {
			if c := units[n].c; c == 0x07 || c == '\\' && units[n-1].c == 0x1b {
				return n + 1
			}
		}
	case units[1].c >= '0' && units[1].c <= '~':
		return 2
	case inBetween[units[1].c] && len(units) > 2: // selects a character set
		return 3
	}
	return 1
}

// character returns the length of the non-ASCII character at the start of units, and whether it is visible.
func character(units []unit) (n int, shown bool) {
	var b [utf8.UTFMax]byte
	k := 0
	for ; k < len(b) && k < len(units); k++ {
		b[k] = units[k].c
	}
	r, n := utf8.DecodeRune(b[:k])
	const frames, endOfFrames = 0x2500, 0x257f
	hidden := unicode.IsControl(r) || unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector) ||
		r >= frames && r <= endOfFrames || strings.ContainsRune("\u034f\u115f\u1160\u3164", r)
	return n, !hidden
}
