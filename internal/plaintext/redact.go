package plaintext

import (
	"regexp"
	"slices"
	"strings"
)

// redaction stands for a secret in an error, a warning or a log.
const redaction = "[redacted]"

// minSecret is the shortest value that is taken for a secret: shorter ones are
// words that stand everywhere.
const minSecret = 8

var (
	// secretName is a variable whose value nobody should read.
	secretName = regexp.MustCompile(`(?i)KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE`)
	// secretShapes are what CLIs and services print of their own accord. The
	// groups are what stays.
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

// Redactor takes secrets out of texts: the values of the variables that the CLI
// was given under a telling name, and what looks like a key.
type Redactor struct{ values []string }

func NewRedactor(env []string) *Redactor {
	r := &Redactor{}
	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); len(value) >= minSecret && secretName.MatchString(name) {
			r.values = append(r.values, value)
		}
	}
	slices.SortFunc(r.values, func(a, b string) int { return len(b) - len(a) }) // one may hold another
	return r
}

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

// All cleans texts in their place.
func (r *Redactor) All(texts []string) {
	for i := range texts {
		texts[i] = r.Clean(texts[i])
	}
}
