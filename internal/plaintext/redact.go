package plaintext

import (
	"encoding/json"
	"strings"
	"sync"
	"unsafe"
)

const redaction = "[redacted]"

// Redactor removes secrets from texts: those in the CLI's variables, told by name and by value, in each form that
// programs print them in, and everything that has the shape of a key. It is safe for concurrent use. A nil Redactor
// knows no values.
type Redactor struct {
	secrets                []string
	plain, escaped, spaced finder

	// Made once, at the first need.
	once         sync.Once
	later        parts // of plain
	disguiseOnce sync.Once
	disguises    disguises
}

// NewRedactor returns a Redactor for the environment of a CLI ("NAME=value").
func NewRedactor(env []string) *Redactor {
	r := &Redactor{plain: finder{wrap: atBreaks}, escaped: finder{wrap: atEscapes}, spaced: finder{wrap: atSpaces}}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if len(value) >= minSecret {
			r.secrets = append(r.secrets, secretsOf(name, value)...)
		}
	}
	for _, secret := range r.secrets {
		for _, form := range formsOf(secret) {
			r.plain.add(form)
			r.escaped.add(form)
		}
		if strings.ContainsAny(strings.TrimSpace(secret), " \t") {
			r.spaced.add(strings.TrimSpace(secret))
		}
	}
	return r
}

// Clean returns text with each secret replaced by "[redacted]". It allocates only where it finds one.
func (r *Redactor) Clean(text string) string {
	if text == "" {
		return ""
	}
	if r != nil && len(r.plain.forms) > 0 {
		text = r.plain.cleanCut(r.plain.clean(text))
		escapes := strings.Contains(text, `\n`) || strings.Contains(text, `\r`)
		if escapes {
			text = r.escaped.clean(text)
		}
		if escapes || strings.ContainsAny(text, "\r\n") {
			text = r.spaced.clean(text)
		}
	}
	return cleanShapes(text)
}

// CleanJSON is Clean for a JSON value. It returns raw itself where there is nothing to clean, and the JSON string
// "[redacted]" where the rest would be no JSON.
func (r *Redactor) CleanJSON(raw []byte) []byte {
	text := unsafe.String(unsafe.SliceData(raw), len(raw)) // not kept: Clean copies what it changes
	cleaned := r.Clean(text)
	switch {
	case cleaned == text:
		return raw
	case json.Valid([]byte(cleaned)):
		return []byte(cleaned)
	}
	return []byte(`"` + redaction + `"`)
}

// All cleans all texts in place.
func (r *Redactor) All(texts []string) {
	for i := range texts {
		texts[i] = r.Clean(texts[i])
	}
}
