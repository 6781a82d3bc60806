package live_test

import (
	"io"
	"os"
	"strings"
	"time"
)

// playCold plays the fake agent without its live mode, and exits.
func playCold(dialect string) {
	prompt, _ := io.ReadAll(os.Stdin)
	a := &agent{dialect: dialect, manners: os.Getenv("AGENT_MANNERS")}
	if !a.has("cold") {
		exit(9)
	}
	a.startUp()
	if a.has("cold hangs") {
		time.Sleep(time.Hour)
	}
	if what, rest, _ := strings.Cut(string(prompt), " "); what == "take" {
		pass(rest)
	}
	a.delta(coldAnswer(string(prompt)))
	a.notice("done", object{"failed": false, "tokens": 3})
	exit(0)
}

// startUp waits as long as AGENT_MANNERS specifies, such as "starts in 500ms".
func (a *agent) startUp() {
	if _, rest, ok := strings.Cut(a.manners, "starts in "); ok {
		pass(rest)
	}
}

// endOfInput notes that the agent has seen the end of its input, if AGENT_MANNERS requires it. A deaf agent does not exit.
func (a *agent) endOfInput() {
	if a.has("deaf") || a.has("notes its end") {
		_ = os.WriteFile(os.Args[0]+".end", nil, 0o600)
	}
	if a.has("deaf") {
		time.Sleep(time.Hour)
	}
}

// pass sleeps for the duration at the beginning of a text, and returns the rest of the text.
func pass(text string) string {
	d, rest, _ := strings.Cut(text, " ")
	took, err := time.ParseDuration(strings.TrimSuffix(d, ","))
	if err != nil {
		panic(err)
	}
	time.Sleep(took)
	return rest
}
