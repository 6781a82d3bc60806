package plaintext

import (
	"encoding/json"
	"strings"
	"sync"
	"unsafe"
)

const redaction = "[redacted]"

// Redactor removes secrets from texts. It recognizes secrets in the CLI's environment variables by name and by value,
// and finds them in every form in which programs print them. It also removes every text with the shape of a key. It is
// safe for concurrent use. A nil Redactor knows no environment.
type Redactor struct {
	secrets                []string
	plain, escaped, spaced finder

	// once builds the fields below at the first use.
	once         sync.Once
	later        parts // derived from plain
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

// Clean returns text with each secret replaced by "[redacted]". It allocates only if it finds one.
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

// CleanJSON is Clean for a JSON value. It returns raw itself if there is no secret, and the JSON string "[redacted]" if
// the result would not be valid JSON.
func (r *Redactor) CleanJSON(raw []byte) []byte {
	text := unsafe.String(unsafe.SliceData(raw), len(raw)) // safe: Clean copies the parts that it keeps
	cleaned := r.Clean(text)
	switch {
	case cleaned == text:
		return raw
	case json.Valid([]byte(cleaned)):
		return []byte(cleaned)
	}
	return []byte(`"` + redaction + `"`)
}

// All applies Clean to all texts in place.
func (r *Redactor) All(texts []string) {
	for i := range texts {
		texts[i] = r.Clean(texts[i])
	}
}
