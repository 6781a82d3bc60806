package plaintext

import "strings"

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

// finder finds many secrets in one pass over a text. It identifies them by their first eight bytes. near lets it skip
// bytes: if a pair of bytes occurs in none of these prefixes, no prefix contains the pair.
type finder struct {
	wrap  wrap
	forms map[uint64][]string // tails by the first eight bytes
	maybe [1 << 12]bool       // by hashOf the first eight bytes; avoids most lookups in forms
	near  [1 << 12]uint8      // by pairOf: the last index of the pair in any prefix, 0 for none
}

// hashOf returns an index into finder.maybe.
func hashOf(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> 52 }

// pairOf returns an index into finder.near.
func pairOf(first, second byte) uint { return (uint(first)<<5 ^ uint(second)) % (1 << 12) }

// headOf returns the first eight bytes of a text as a number.
func headOf(text string) (head uint64) {
	for i := range minSecret {
		head = head<<8 | uint64(text[i])
	}
	return head
}

func (f *finder) add(form string) {
	if form = f.wrap.strip(form); len(form) < minSecret {
		return
	}
	head := headOf(form)
	for i := 1; i < minSecret; i++ {
		pair := pairOf(form[i-1], form[i])
		f.near[pair] = max(f.near[pair], uint8(i))
	}
	if f.forms == nil {
		f.forms = map[uint64][]string{}
	}
	f.forms[head] = append(f.forms[head], form[minSecret:])
	f.maybe[hashOf(head)] = true
}

// clean replaces the secrets in text.
func (f *finder) clean(text string) string {
	if len(f.forms) == 0 || len(text) < minSecret {
		return text
	}
	var out cut
	breaks := seeker{text: text, bytes: f.wrap.breaks(), at: [5]int{-1, -1, -1, -1, -1}}
	for from, end := 0, 0; end < len(text); {
		end = breaks.next(from)
		f.jump(&out, text, from, end)
		if next := f.over(text, from, end); next > 0 {
			from = next
			continue
		}
		from = f.step(&out, text, max(from, end-minSecret+1), end)
	}
	return out.rest(text)
}

// over returns the offset after the interruption at offset at, if no secret that begins at from or later can continue
// across it. Otherwise it returns 0: the bytes on both sides form a pair that occurs in the prefix of a secret.
func (f *finder) over(text string, from, at int) (next int) {
	skipped := f.wrap.skip(text[at:])
	next = at + skipped
	if skipped == 0 || at > from && next < len(text) && f.near[pairOf(text[at-1], text[next])] > 0 {
		return 0
	}
	return next
}

// jump drops the secrets whose first eight bytes are within text[from:end], a range without interruptions.
func (f *finder) jump(out *cut, text string, from, end int) {
	const last = minSecret - 1
	for i := from + last; i < end; {
		if near := int(f.near[pairOf(text[i-1], text[i])]); near < last {
			i += last - near
			continue
		}
		if head := headOf(text[i-last:]); f.maybe[hashOf(head)] {
			f.drop(out, text, i-last, i+1, head)
		}
		i++
	}
}

// step drops the secrets whose first eight bytes begin at from or later and cross the interruptions around at. It
// returns the offset at which jump can continue.
func (f *finder) step(out *cut, text string, from, at int) (next int) {
	var head uint64   // the last eight bytes outside interruptions; environment variables contain no NUL
	var starts [8]int // their offsets
	inBreaks := &inBreaks[f.wrap]
	next = at
	for i, n, last := from, 0, min(len(text), at+1); i < last; i++ {
		c := text[i]
		if inBreaks[c] {
			skipped := f.wrap.skip(text[i:])
			next = i + max(skipped, 1)
			last = min(len(text), next+minSecret-1)
			if skipped > 0 {
				i = next - 1
				continue
			}
		}
		head = head<<8 | uint64(c)
		starts[n&7] = i
		n++
		if f.maybe[hashOf(head)] {
			f.drop(out, text, starts[n&7], i+1, head)
		}
	}
	return next
}

// drop drops the secret with these first eight bytes, of which the last is before end.
func (f *finder) drop(out *cut, text string, start, end int, head uint64) {
	if to := f.end(text, end, head); to > 0 {
		out.drop(text, start, to)
	}
}

// seeker finds the next of several bytes in a text. It searches the text once for each byte.
type seeker struct {
	text, bytes string
	at          [5]int // offset of the next occurrence of each byte
}

// next returns the first offset from from onward, or the length of the text.
func (s *seeker) next(from int) int {
	first := len(s.text)
	for k := range len(s.bytes) {
		if s.at[k] < from {
			s.at[k] = len(s.text)
			if n := strings.IndexByte(s.text[from:], s.bytes[k]); n >= 0 {
				s.at[k] = from + n
			}
		}
		first = min(first, s.at[k])
	}
	return first
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
