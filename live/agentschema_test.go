package live_test

import (
	"os"
	"strings"
	"time"
)

// withoutSchema returns a prompt without the schema that clichain adds for a CLI without a schema option.
func withoutSchema(prompt string) string {
	prompt, _, _ = strings.Cut(prompt, "\n\nAnswer with one JSON value")
	return prompt
}

// lastTurn returns the last turn of a text with several turns, or the text itself if it is one turn.
func lastTurn(text string) string {
	if !strings.HasSuffix(text, "Answer the last turn.") {
		return text
	}
	text = text[:strings.LastIndex(text, "\n</turn-")]
	text = text[strings.LastIndex(text, "\n<turn-")+1:]
	_, text, _ = strings.Cut(text, "\n")
	return text
}

// mend plays "mend FIRST SECOND": the answer is FIRST, and SECOND after a complaint of clichain ("Your answer
// …"). "act" does the same after a tool use.
func (a *agent) mend(what, order string) string {
	if what == "Your" {
		return a.mended
	}
	if what == "act" {
		a.notice("tool", object{"name": "shell"})
	}
	first, second, _ := strings.Cut(order, " ")
	a.mended = second
	if first == "slowly" { // plays a model that takes its time
		pause, _ := time.ParseDuration(os.Getenv("AGENT_FIRST"))
		time.Sleep(pause)
	}
	return first
}

// coldAnswer returns the answer of a cold call.
func coldAnswer(prompt string) string {
	if order, ok := strings.CutPrefix(withoutSchema(prompt), "mend "); ok {
		_, second, _ := strings.Cut(order, " ")
		return second
	}
	return "cold: " + prompt
}
