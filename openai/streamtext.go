package openai

import "strings"

// streamText is the text that a client has received, and cannot give back. After a reset it holds back the new text
// until that is as long as the old one, and forever if the two differ.
type streamText struct {
	sent    strings.Builder
	at      int // the length of the current text that is equal to sent
	differs bool
}

// add takes a piece of the current text, and returns what to send.
func (t *streamText) add(piece string) string {
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

// reset starts a new text.
func (t *streamText) reset() { t.at, t.differs = 0, false }

// finish returns the rest of the complete answer; ok is false if the text that was sent is not a prefix of it.
func (t *streamText) finish(whole string) (rest string, ok bool) {
	sent := t.sent.String()
	if strings.TrimSpace(sent) == strings.TrimSpace(whole) && sent != "" {
		return "", true
	}
	return strings.CutPrefix(whole, sent)
}
