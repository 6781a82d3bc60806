package judge

import (
	"regexp"
	"strings"

	"github.com/clichain/clichain/clispec"
)

// Transcript finds the CLI's own text on a stderr that also contains the prompt and the model's text, in text
// mode. It is immutable.
type Transcript struct{ prompt, own *regexp.Regexp }

// NewTranscript returns the Transcript of a rule that passed Validate. It panics for an invalid pattern.
func NewTranscript(r clispec.TextRule) *Transcript {
	if r.Prompt == "" {
		return &Transcript{}
	}
	return &Transcript{regexp.MustCompile(`(?m)^(?:` + r.Prompt + `)\r?$`), regexp.MustCompile(`^(?:` + r.Own + `)$`)}
}

// Begins reports whether the prompt and the model's text follow the line.
func (t *Transcript) Begins(line string) bool { return t.prompt != nil && t.prompt.MatchString(line) }

// Own returns the CLI's own text: the part before the prompt, and the CLI's lines at the end.
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

// afterPrompt returns the text after the prompt. The middle of a long prompt may be missing, so only its end is
// searched.
func afterPrompt(text, prompt string) string {
	const enough = 200
	text, prompt = strings.TrimLeft(text, "\r\n"), strings.TrimSpace(prompt)
	if rest, ok := strings.CutPrefix(strings.TrimSpace(text), prompt); ok {
		return rest
	}
	end := prompt[max(0, len(prompt)-enough):]
	if i := strings.LastIndex(text, end); i >= 0 {
		return text[i+len(end):]
	}
	return text
}
