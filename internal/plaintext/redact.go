package plaintext

import (
	"encoding/json"
	"strings"
	"sync"
	"unsafe"

	"github.com/clichain/clichain/internal/pattern"
)

const redaction = "[redacted]"

// minSecret is the length of the shortest value taken for a secret: shorter ones
// are ordinary words that would be removed everywhere.
const minSecret = 8

// secretName matches the name of a variable whose value is a secret.
var secretName = pattern.Of(`(?i)KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE`)

// Redactor removes secrets from texts: the values of the CLI's variables whose names say that they are secret, in each
// form that programs print them in, and everything that looks like a key. It is safe for concurrent use. A nil Redactor
// knows no values.
type Redactor struct {
	plain, escaped, spaced finder

	once  sync.Once
	later parts // of plain; made once, at the first need
}

// NewRedactor returns a Redactor for the environment of a CLI ("NAME=value").
func NewRedactor(env []string) *Redactor {
	r := &Redactor{plain: finder{wrap: atBreaks}, escaped: finder{wrap: atEscapes}, spaced: finder{wrap: atSpaces}}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if len(value) < minSecret || !secretName().MatchString(name) {
			continue
		}
		trimmed := strings.TrimSpace(value)
		for _, form := range append(formsOf(value), formsOf(trimmed)...) {
			r.plain.add(form)
			r.escaped.add(form)
		}
		if strings.ContainsAny(trimmed, " \t") {
			r.spaced.add(trimmed)
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
