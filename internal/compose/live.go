package compose

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/clichain/clichain/clispec"
)

// Message returns the first message of the list whose condition holds, and its parameters, nil if it has none. more has
// the values of the fields that exist only in messages.
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

// Opening returns the methods and parameters of the messages that prepare a process and a context for this call. Calls
// with different results cannot share a context.
func (c *Call) Opening(r *clispec.LiveRules) (params []string) {
	for _, list := range slices.Concat(single(r.Ready), [][]clispec.LiveMessage{c.Begin(r)}, single(r.Opened)) {
		if m, text, ok := c.Message(list, nil); ok {
			params = append(params, m.Method, string(text))
		}
	}
	return params
}

// Begin returns the messages of which the first that applies begins the context: those of Resume if the call resumes a
// session by a message, else those of Open.
func (c *Call) Begin(r *clispec.LiveRules) []clispec.LiveMessage {
	if c.Resumed(r) != "" {
		return r.Resume
	}
	return r.Open
}

// Resumed returns the id of the session that the call resumes by a message, "" if it resumes none.
func (c *Call) Resumed(r *clispec.LiveRules) string {
	if len(r.Resume) == 0 {
		return ""
	}
	return strings.Join(c.Fields["session"], "")
}

// single wraps each message in a list.
func single(list []clispec.LiveMessage) (lists [][]clispec.LiveMessage) {
	for i := range list {
		lists = append(lists, list[i:i+1])
	}
	return lists
}

// messages returns the messages that apply to this call and can contain fields of the request.
func (c *Call) messages(r *clispec.LiveRules) (sent []clispec.LiveMessage) {
	for _, list := range append(single(r.Opened), c.Begin(r), r.Turn) {
		if m, ok := c.first(list); ok {
			sent = append(sent, m)
		}
	}
	return sent
}
