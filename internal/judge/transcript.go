package judge

import (
	"regexp"
	"strings"

	"github.com/clichain/clichain/clispec"
)

// Transcript finds the CLI's own words on a stderr that has the prompt and the
// model's words as well, in text mode. It never changes.
type Transcript struct{ prompt, own *regexp.Regexp }

// NewTranscript makes the Transcript of a rule that passed Validate; an invalid
// pattern panics.
func NewTranscript(r clispec.TextRule) *Transcript {
	if r.Prompt == "" {
		return &Transcript{}
	}
	return &Transcript{regexp.MustCompile(`(?m)^(?:` + r.Prompt + `)\r?$`), regexp.MustCompile(`^(?:` + r.Own + `)$`)}
}

// Begins reports whether the words of others follow the line.
func (t *Transcript) Begins(line string) bool { return t.prompt != nil && t.prompt.MatchString(line) }

// Own is what the CLI itself says: what stands before the words of others, and its
// own lines at the end.
func (t *Transcript) Own(stderr, prompt string) string {
	if t.prompt == nil {
		return stderr
	}
	at := t.prompt.FindStringIndex(stderr)
	if at == nil {
		return stderr
	}
	lines := strings.SplitAfter(afterPrompt(stderr[at[1]:], prompt), "\n")
	first := len(lines)
	for first > 0 {
		if line := strings.TrimSpace(lines[first-1]); line != "" && !t.own.MatchString(line) {
			break
		}
		first--
	}
	return stderr[:at[0]] + strings.Join(lines[first:], "")
}

// afterPrompt is what follows the prompt. Of a long one the middle may be dropped,
// so that only its end is found.
func afterPrompt(text, prompt string) string {
	const enough = 200
	text, prompt = strings.TrimLeft(text, "\r\n"), strings.TrimSpace(prompt)
	if rest, ok := strings.CutPrefix(strings.TrimSpace(text), prompt); ok {
		return rest
	}
	if end := prompt[max(0, len(prompt)-enough):]; end != "" {
		if i := strings.LastIndex(text, end); i >= 0 {
			return text[i+len(end):]
		}
	}
	return text
}
