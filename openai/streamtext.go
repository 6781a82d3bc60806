package openai

import (
	"hash/maphash"
	"strings"
	"unicode"
)

// streamText knows, without storing it, the text that a client has received and cannot give back. After a reset it
// holds back the new text until that is as long as the old one, and forever if the two differ.
type streamText struct {
	sent    hashedText
	core    hashedText // sent without surrounding blanks
	blanks  []byte     // the blanks at the end of sent
	again   hashedText // the current text, while it is shorter than sent
	differs bool
}

// hashedText is the length and the hash of a text.
type hashedText struct {
	length int
	hash   maphash.Hash
}

// seed makes the hashes of all texts comparable. Nobody can find texts with the same hash without it.
var seed = maphash.MakeSeed()

func (t *hashedText) add(piece string) {
	if t.length == 0 {
		t.hash.SetSeed(seed)
	}
	t.length += len(piece)
	_, _ = t.hash.WriteString(piece) // never fails
}

// begins reports whether a text begins with this one.
func (t *hashedText) begins(text string) bool {
	return len(text) >= t.length && (t.length == 0 || maphash.String(seed, text[:t.length]) == t.hash.Sum64())
}

// add takes a piece of the current text, and returns what to send.
func (t *streamText) add(piece string) string {
	if missing := t.sent.length - t.again.length; missing > 0 {
		n := min(len(piece), missing)
		t.again.add(piece[:n])
		if piece = piece[n:]; n < missing {
			return ""
		}
		t.differs = t.again.hash.Sum64() != t.sent.hash.Sum64()
	}
	if t.differs {
		return ""
	}
	t.send(piece)
	return piece
}

func (t *streamText) send(piece string) {
	t.sent.add(piece)
	t.again.length = t.sent.length
	if t.core.length == 0 {
		piece = strings.TrimLeftFunc(piece, unicode.IsSpace)
	}
	text := strings.TrimRightFunc(piece, unicode.IsSpace)
	if text != "" {
		t.core.add(string(t.blanks))
		t.core.add(text)
		t.blanks = t.blanks[:0]
	}
	t.blanks = append(t.blanks, piece[len(text):]...)
}

// reset starts a new text.
func (t *streamText) reset() { t.again, t.differs = hashedText{}, false }

// finish returns the rest of the complete answer; ok is false if the text that was sent is not a prefix of it.
func (t *streamText) finish(whole string) (rest string, ok bool) {
	if core := strings.TrimSpace(whole); t.sent.length > 0 && len(core) == t.core.length && t.core.begins(core) {
		return "", true
	}
	if !t.sent.begins(whole) {
		return "", false
	}
	return whole[t.sent.length:], true
}
