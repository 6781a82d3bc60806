package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Sole finds the one JSON value of a text: the text itself, or an
// object or array that has its lines for itself among lines of words, where no
// other line begins with a bracket. Everything else would be a guess.
func Sole(text string) (string, error) {
	body := bytes.TrimSpace(bytes.TrimPrefix([]byte(text), byteOrderMark))
	err := json.Unmarshal(body, new(json.RawMessage))
	if err == nil {
		return string(body), nil
	}
	if start := lineStart(body); start >= 0 {
		body = body[start:]
		end, ok := Value(body, MaxDepth)
		if ok && aloneBefore(body[end:]) {
			return string(body[:end]), nil
		}
	}
	return "", fmt.Errorf("it is not one JSON value alone: %w", err)
}

// aloneBefore reports whether nothing but words follows a document, from the
// next line on.
func aloneBefore(rest []byte) bool {
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return len(bytes.TrimSpace(line)) == 0 && lineStart(rest) < 0
}
