package jsontext

import (
	"bytes"

	"github.com/clichain/clichain/internal/pattern"
)

// outside matches a string, a comment, or a comma before a closing bracket with comments between them.
var outside = pattern.Of(`"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*(?s:.*?)\*/|,(?:\s|//[^\n]*\n|/\*(?s:.*?)\*/)*[\]}]`)

// WithoutComments turns JSON with comments and trailing commas into JSON.
func WithoutComments(text []byte) []byte {
	return outside().ReplaceAllFunc(text, func(m []byte) []byte {
		switch m[0] {
		case '/':
			return []byte(" ")
		case ',':
			return bytes.Clone(m[len(m)-1:])
		}
		return m
	})
}
