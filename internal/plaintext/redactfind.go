package plaintext

import "strings"

// wrap says where a secret may be broken by a line end; what stands there is passed over.
type wrap int

const (
	atBreaks  wrap = iota // line breaks, and the spaces after them
	atEscapes             // those, and the line breaks of a JSON string
	atSpaces              // those, and all spaces
)

// skip returns how many bytes at the start of text are passed over.
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

// escapedSpace is the length of the escaped line break that text begins with, or of a tab; a string in a string in
// a string has four backslashes before the letter.
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

// strip removes from a secret what is passed over in texts.
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

// finder finds many secrets in one pass over a text, by their first eight bytes.
type finder struct {
	wrap  wrap
	forms map[uint64][]string // by their first eight bytes
	maybe [1 << 12]bool       // by the hash of those: most bytes of a text need no look at forms
}

// hashOf is an index of finder.maybe.
func hashOf(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> 52 }

func (f *finder) add(form string) {
	if form = f.wrap.strip(form); len(form) < minSecret {
		return
	}
	head := uint64(0)
	for i := range minSecret {
		head = head<<8 | uint64(form[i])
	}
	if f.forms == nil {
		f.forms = map[uint64][]string{}
	}
	f.forms[head] = append(f.forms[head], form[minSecret:])
	f.maybe[hashOf(head)] = true
}

// clean replaces the secrets in text.
func (f *finder) clean(text string) string {
	if len(f.forms) == 0 {
		return text
	}
	var out cut
	var head uint64   // the last eight bytes that were not passed over; a variable holds no NUL
	var starts [8]int // and where they are
	for i, n := 0, 0; i < len(text); i++ {
		c := text[i]
		if c <= ' ' || c == '\\' {
			if skipped := f.wrap.skip(text[i:]); skipped > 0 {
				i += skipped - 1
				continue
			}
		}
		head = head<<8 | uint64(c)
		starts[n&7] = i
		n++
		if f.maybe[hashOf(head)] {
			if end := f.end(text, i+1, head); end > 0 {
				out.drop(text, starts[n&7], end)
			}
		}
	}
	return out.rest(text)
}

// end is where the longest secret ends whose first eight bytes end at from; 0 for none.
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

// cleanCut replaces the first part of a secret at the end of a text that OneLine has cut.
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

// cleanEnd replaces the first part of a secret at the end of a text.
func (f *finder) cleanEnd(body string) string {
	for i := range max(0, len(body)-minSecret+1) {
		head := uint64(0)
		for _, c := range []byte(body[i : i+minSecret]) {
			head = head<<8 | uint64(c)
		}
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

// cut builds a text without parts of another one, which come in the order of their starts and may overlap.
type cut struct {
	b        strings.Builder
	done     int // so much of the text is in b or dropped
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

// rest returns the text without the parts.
func (c *cut) rest(text string) string {
	if c.to == 0 {
		return text
	}
	c.flush(text)
	c.b.WriteString(text[c.done:])
	return c.b.String()
}
