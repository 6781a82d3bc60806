package plaintext

import (
	"strings"
)

// StripFence removes one code fence that encloses the whole text, with its
// language tag. A text with several fences, or with words around one, stays as
// it is; an opening fence that is never closed is removed alone.
func StripFence(text string) string {
	body := strings.TrimSpace(text)
	if !strings.HasPrefix(body, "```") {
		return text
	}
	inner, closed := strings.CutSuffix(strings.TrimLeft(body, "`"), "```")
	if strings.Contains(inner, "```") {
		return text
	}
	if closed {
		inner = strings.TrimRight(inner, "`")
	}
	return strings.TrimSpace(cutTag(inner))
}

// cutTag cuts a fence's language tag: a word at the end of the opening line,
// or, where a model put everything on one line, a word before a space.
func cutTag(inner string) string {
	tag, rest, ok := strings.Cut(inner, "\n")
	if !ok {
		tag, rest, ok = strings.Cut(inner, " ")
	}
	if !ok || strings.ContainsAny(tag, "{}[]\"'(): ") {
		return inner
	}
	return rest
}
