package openai

import "strings"

// text is the text of a stream for a client, which cannot take back what it has. After a reset nothing goes out before
// the new text has come as far as the old one, and nothing at all if it differs.
type text struct {
	sent    strings.Builder
	at      int // how much of the present text is as what was sent
	differs bool
}

// add takes a piece of the present text, and returns what may be sent.
func (t *text) add(piece string) string {
	old := t.sent.String()[t.at:]
	n := min(len(piece), len(old))
	t.differs = t.differs || piece[:n] != old[:n]
	t.at += n
	if t.differs {
		return ""
	}
	t.at += len(piece) - n
	t.sent.WriteString(piece[n:])
	return piece[n:]
}

// reset begins another text.
func (t *text) reset() { t.at, t.differs = 0, false }

// finish returns what is missing of the whole answer; ok is false where what was sent is no beginning of it.
func (t *text) finish(whole string) (rest string, ok bool) {
	sent := t.sent.String()
	if strings.TrimSpace(sent) == strings.TrimSpace(whole) && sent != "" {
		return "", true
	}
	return strings.CutPrefix(whole, sent)
}
