package live_test

import (
	"os"
	"strings"
	"time"
)

// withoutSchema is a prompt without the schema that clichain adds for a CLI that has no option for one.
func withoutSchema(prompt string) string {
	prompt, _, _ = strings.Cut(prompt, "\n\nAnswer with one JSON value")
	return prompt
}

// mend plays "mend FIRST SECOND": the answer is FIRST, and SECOND once clichain complains of it ("Your answer …"). "act" is
// the same after a tool.
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

// coldAnswer is the answer of a cold call.
func coldAnswer(prompt string) string {
	if order, ok := strings.CutPrefix(withoutSchema(prompt), "mend "); ok {
		_, second, _ := strings.Cut(order, " ")
		return second
	}
	return "cold: " + prompt
}
