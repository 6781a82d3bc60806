package plaintext

import (
	"regexp"
	"slices"
	"strings"
)

const redaction = "[redacted]"

// minSecret is the length of the shortest value taken for a secret: shorter ones
// are ordinary words that would be removed everywhere.
const minSecret = 8

var (
	// secretName matches the name of a variable whose value is a secret.
	secretName = regexp.MustCompile(`(?i)KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE`)
	// secretShapes match secrets that CLIs and services print by themselves. The two groups of each stay.
	secretShapes = []*regexp.Regexp{
		regexp.MustCompile(`(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}`),
		regexp.MustCompile(`(?i)(\b(?:x-)?(?:goog-)?api[_-]?key["']?\s*[:=]\s*["']?)[A-Za-z0-9._~+/-]{8,}`),
		regexp.MustCompile(`(?i)([?&](?:key|api_key|token|access_token|sig|signature)=)[^&\s"']+`),
		regexp.MustCompile(`(\b[a-z][a-z0-9+.-]*://)[^/\s:@"']+:[^/\s@"']+(@)`),
		regexp.MustCompile(`()\b(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}`),
		regexp.MustCompile(`()\bAIza[A-Za-z0-9_-]{30,}`),
		regexp.MustCompile(`()\bgh[pousr]_[A-Za-z0-9]{20,}`),
		regexp.MustCompile(`()\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`),
	}
)

// Redactor removes secrets from texts: the values of the CLI's variables whose names say that they are secret, and
// everything that looks like a key. It is safe for concurrent use.
type Redactor struct{ values []string }

// NewRedactor returns a Redactor for the environment of a CLI ("NAME=value").
func NewRedactor(env []string) *Redactor {
	r := &Redactor{}
	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); len(value) >= minSecret && secretName.MatchString(name) {
			r.values = append(r.values, value)
		}
	}
	slices.SortFunc(r.values, func(a, b string) int { return len(b) - len(a) }) // a secret may contain another
	return r
}

// Clean returns text with each secret replaced by "[redacted]".
func (r *Redactor) Clean(text string) string {
	if text == "" {
		return ""
	}
	for _, value := range r.values {
		text = strings.ReplaceAll(text, value, redaction)
	}
	for _, shape := range secretShapes {
		text = shape.ReplaceAllString(text, "${1}"+redaction+"${2}")
	}
	return text
}

// All cleans all texts in place.
func (r *Redactor) All(texts []string) {
	for i := range texts {
		texts[i] = r.Clean(texts[i])
	}
}
