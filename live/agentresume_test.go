package live_test

import (
	"fmt"
	"syscall"
)

// exit ends the process. os.Exit would sleep for a second in binaries built with the race detector.
func exit(status int) { syscall.Exit(status) }

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
