package plaintext

import (
	"encoding/binary"
	"strings"
)

// wrap selects the bytes that may interrupt a secret, such as line breaks. The search ignores them.
type wrap int

const (
	atBreaks  wrap = iota // line breaks, and the spaces after them
	atEscapes             // also the line breaks of a JSON string
	atSpaces              // also all spaces
)

// breaks returns the bytes that can start an interruption.
func (w wrap) breaks() string { return [...]string{"\n\r", "\n\r\\", "\n\r\\ \t"}[w] }

var inBreaks = [...]charset{setOf(atBreaks.breaks()), setOf(atEscapes.breaks()), setOf(atSpaces.breaks())}

// skip returns the length of the interruption at the start of text.
func (w wrap) skip(text string) (n int) {
	for n < len(text) {
		switch c := text[n]; {
		case c == '\n', c == '\r', (c == ' ' || c == '\t') && (n > 0 || w == atSpaces):
			n++
		case c == '\\' && w != atBreaks && escapedSpace(text[n:], n > 0) > 0:
			n += escapedSpace(text[n:], n > 0)
		default:
			return n
		}
	}
	return n
}

// escapedSpace returns the length of the escaped line break, or tab, at the start of text. In a string nested in two
// other strings, four backslashes precede the letter.
func escapedSpace(text string, tab bool) int {
	for n := 1; n <= 4 && n < len(text); n++ {
		switch c := text[n]; {
		case c == 'n', c == 'r', c == 't' && tab:
			return n + 1
		case c != '\\':
			return 0
		}
	}
	return 0
}

// strip removes the interruptions from a secret.
func (w wrap) strip(secret string) string {
	var b strings.Builder
	for i := 0; i < len(secret); i++ {
		if n := w.skip(secret[i:]); n > 0 {
			i += n - 1
			continue
		}
		b.WriteByte(secret[i])
	}
	return b.String()
}

// finder finds many secrets in one pass over a text. It identifies them by their first eight bytes.
type finder struct {
	wrap  wrap
	forms map[uint64][]string // tails by the first eight bytes
	maybe [1 << 12]bool       // by hashOf the first eight bytes; avoids most lookups in forms
}

// hashOf returns an index into finder.maybe.
func hashOf(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> 52 }

// headOf returns the first eight bytes of a text as a number.
func headOf(text string) uint64 { return binary.BigEndian.Uint64([]byte(text[:minSecret])) }

func (f *finder) add(form string) {
	if form = f.wrap.strip(form); len(form) < minSecret {
		return
	}
	if f.forms == nil {
		f.forms = map[uint64][]string{}
	}
	head := headOf(form)
	f.forms[head] = append(f.forms[head], form[minSecret:])
	f.maybe[hashOf(head)] = true
}

// clean replaces the secrets in text.
func (f *finder) clean(text string) string {
	if len(f.forms) == 0 || len(text) < minSecret {
		return text
	}
	var out cut
	var head uint64           // the last eight bytes outside interruptions; environment variables contain no NUL
	var starts [minSecret]int // their offsets
	inBreaks := &inBreaks[f.wrap]
	for i, n := 0, 0; i < len(text); {
		if inBreaks[text[i]] {
			if skipped := f.wrap.skip(text[i:]); skipped > 0 {
				i += skipped
				continue
			}
		}
		head = head<<8 | uint64(text[i])
		starts[n%minSecret] = i
		i++
		n++
		if !f.maybe[hashOf(head)] {
			continue
		}
		if end := f.end(text, i, head); end > 0 {
			out.drop(text, starts[n%minSecret], end)
		}
	}
	return out.rest(text)
}

// end returns the end of the longest secret whose first eight bytes end at from, 0 if there is none.
func (f *finder) end(text string, from int, head uint64) (end int) {
	for _, tail := range f.forms[head] {
		at := from
		for k := 0; k < len(tail); k++ {
			at += f.wrap.skip(text[at:])
			if at == len(text) || text[at] != tail[k] {
				at = 0
				break
			}
			at++
		}
		end = max(end, at)
	}
	return end
}

// cleanCut replaces the start of a secret at the end of a text that OneLine has cut.
func (f *finder) cleanCut(text string) string {
	body, ok := strings.CutSuffix(text, "…")
	if !ok {
		return text
	}
	if cleaned := f.cleanEnd(body); cleaned != body {
		return cleaned + "…"
	}
	return text
}

// cleanEnd replaces the start of a secret at the end of a text.
func (f *finder) cleanEnd(body string) string {
	for i := range max(0, len(body)-minSecret+1) {
		head := headOf(body[i:])
		if !f.maybe[hashOf(head)] {
			continue
		}
		for _, tail := range f.forms[head] {
			if strings.HasPrefix(tail, body[i+minSecret:]) {
				return body[:i] + redaction
			}
		}
	}
	return body
}

// cut copies a text without some of its parts. The parts come in the order of their starts and may overlap.
type cut struct {
	b        strings.Builder
	done     int // length of the text that has been copied or dropped
	from, to int // the part to drop next
}

func (c *cut) drop(text string, from, to int) {
	if from < c.to {
		c.to = max(c.to, to)
		return
	}
	c.flush(text)
	c.from, c.to = from, to
}

func (c *cut) flush(text string) {
	if c.to > c.done {
		c.b.WriteString(text[c.done:c.from])
		c.b.WriteString(redaction)
		c.done = c.to
	}
}

// rest returns the copy.
func (c *cut) rest(text string) string {
	if c.to == 0 {
		return text
	}
	c.flush(text)
	c.b.WriteString(text[c.done:])
	return c.b.String()
}
