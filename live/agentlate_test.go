package live_test

import (
	"fmt"
	"os"
	"strings"
)

// belated is a line of a turn that the fake agent prints after the end of the turn.
type belated struct {
	kind, at string // what, and when
	of       *agent // the agent's state in that turn
	id       any
}

// lateTimes are the times at which the fake agent prints a late line. It prints the line before or after its response
// to the request for a new context, or before or after the beginning of the next answer.
var lateTimes = []string{"clear", "cleared", "asked", "answering"}

// lateText is part of every late line that has a text.
const (
	lateText  = "of the caller before"
	lateWords = "Error: Invalid API key " + lateText
)

// belate keeps a line for later: "KIND AT TEXT".
func (a *agent) belate(id any, order string) (rest string) {
	words := strings.SplitN(order, " ", 3)
	a.late = belated{words[0], words[1], &agent{dialect: a.dialect, manners: a.manners, thread: a.thread, now: a.now}, id}
	return words[2]
}

// between calls last between two turns.
func (a *agent) between(at string) {
	a.turning.Wait()
	a.last(at)
}

// last prints the late line if it is due.
func (a *agent) last(at string) {
	late := &a.late
	if late.kind == "" || late.at != at {
		return
	}
	switch late.kind {
	case "result":
		late.of.end(late.id, false, "")
	case "text":
		late.of.delta(lateText)
	case "answer":
		late.of.delta(lateText)
		late.of.end(late.id, false, "")
	case "stray":
		late.of.print(lateWords)
	case "stderr":
		fmt.Fprintln(os.Stderr, lateWords)
	}
	late.kind = ""
}

// nextThread sets the ID of a new context.
func (a *agent) nextThread() {
	if a.thread == 0 || !a.has("one thread") {
		a.thread++
	}
}
