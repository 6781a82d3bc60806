package live_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// question asks the host for a permission, or sends an unknown request.
func (a *agent) question(method string) string {
	a.request(method)
	answer := <-a.answers
	for _, name := range []string{"error", "response", "result"} {
		if value, ok := answer[name]; ok {
			line, _ := json.Marshal(value)
			return name + " " + string(line)
		}
	}
	return "nothing"
}

// request sends the host a request of the agent.
func (a *agent) request(method string) {
	a.asked++
	params := object{"tool": "shell", "input": object{"command": "ls"}, "options": []any{
		object{"id": "yes", "kind": "allow-once"}, object{"id": "never", "kind": "reject_always"}, object{"id": "no", "kind": "reject_once"},
	}}
	if a.dialect == "control" {
		params["subtype"] = method
		a.send(object{"type": "control_request", "request_id": fmt.Sprint("q", a.asked), "request": params})
	} else {
		a.send(object{"id": fmt.Sprint("q", a.asked), "method": method, "params": params})
	}
}

// sessionID returns the ID of the session that the process was started with, or a new one.
func sessionID() string {
	for _, flag := range []string{"--resume", "--session-id"} {
		if i := slices.Index(os.Args, flag); i >= 0 {
			return os.Args[i+1]
		}
	}
	return "s-1"
}
