package compose

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/clichain/clichain/clispec"
)

// Message is the first message of a list whose condition holds, and its parameters,
// nil for none. more are the fields that only messages have, as their texts.
func (c *Call) Message(
	list []clispec.LiveMessage, more map[string]string,
) (m clispec.LiveMessage, params json.RawMessage, ok bool) {
	if m, ok = c.first(list); !ok || m.Params == "" {
		return m, nil, ok
	}
	fields := maps.Clone(c.Fields)
	for name, value := range more {
		fields.Set(name, value)
	}
	return m, json.RawMessage(fields.Expand(m.Params)), true
}

func (c *Call) first(list []clispec.LiveMessage) (m clispec.LiveMessage, ok bool) {
	i := slices.IndexFunc(list, func(m clispec.LiveMessage) bool { return c.holds(m.When) })
	if i < 0 {
		return m, false
	}
	return list[i], true
}

// Opening is what a process and its contexts are told for this call before it is asked:
// calls that differ in it cannot share a context.
func (c *Call) Opening(r *clispec.LiveRules) (params []string) {
	for _, list := range slices.Concat(single(r.Ready), [][]clispec.LiveMessage{c.Begin(r)}, single(r.Opened)) {
		if m, text, ok := c.Message(list, nil); ok {
			params = append(params, m.Method, string(text))
		}
	}
	return params
}

// Begin are the messages of which one begins the context: those of Resume for a call that resumes a session by a
// message, else those of Open.
func (c *Call) Begin(r *clispec.LiveRules) []clispec.LiveMessage {
	if c.Resumed(r) != "" {
		return r.Resume
	}
	return r.Open
}

// Resumed is the id of the session that the call resumes by a message; "": none.
func (c *Call) Resumed(r *clispec.LiveRules) string {
	if len(r.Resume) == 0 {
		return ""
	}
	return strings.Join(c.Fields["session"], "")
}

// single makes a list of each message.
func single(list []clispec.LiveMessage) (lists [][]clispec.LiveMessage) {
	for i := range list {
		lists = append(lists, list[i:i+1])
	}
	return lists
}

// messages are those with the fields of a request.
func (c *Call) messages(r *clispec.LiveRules) (sent []clispec.LiveMessage) {
	for _, list := range append(single(r.Opened), c.Begin(r), r.Turn) {
		if m, ok := c.first(list); ok {
			sent = append(sent, m)
		}
	}
	return sent
}
