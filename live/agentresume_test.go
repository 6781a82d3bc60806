package live_test

import (
	"fmt"
	"os"
	"slices"
	"syscall"
)

// exit ends the process. os.Exit would sleep for a second in binaries built with the race detector.
func exit(status int) { syscall.Exit(status) }

func resumed() bool { return slices.Contains(os.Args, "--resume") }

// rejectResumed ends the process at its first turn, if the session of its arguments is unknown.
func (a *agent) rejectResumed() {
	if a.has("forgot") && resumed() {
		fmt.Fprintln(os.Stderr, "Error: no such session")
		exit(7)
	}
}

// resume continues a context. It repeats an answer of an earlier turn before its response.
func (a *agent) resume(id any, thread string) {
	switch {
	case a.has("knows no resume"):
		a.send(object{"id": id, "error": object{"code": -32601, "message": "Method not found"}})
		return
	case a.has("forgot"):
		a.fail(id, "no such thread")
		return
	}
	if _, err := fmt.Sscanf(thread, "thread-%d", &a.thread); err != nil {
		a.fail(id, "no such thread")
		return
	}
	a.said, a.past = []string{"earlier in " + thread}, true
	a.delta("repeated before the response, ")
	a.reply(id, object{"thread": object{"id": a.id()}})
}

// tellOfThePast prints lines of a turn from before the resume, after another turn has begun.
func (a *agent) tellOfThePast() {
	if a.past {
		a.past, a.now = false, "turn-of-the-past"
		a.delta("of an earlier turn, ")
		a.notice("done", object{"failed": false, "tokens": 100})
	}
}
