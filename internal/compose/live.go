package compose

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/clichain/clichain/clispec"
)

// Message is the first message of a list whose condition holds, and its parameters,
// nil for none. more are the fields that only messages have, as their texts.
func (c *Call) Message(list []clispec.LiveMessage, more map[string]string) (m clispec.LiveMessage, params json.RawMessage, ok bool) {
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

// messages are those with the fields of a request.
func (c *Call) messages(r *clispec.LiveRules) (sent []clispec.LiveMessage) {
	lists := [][]clispec.LiveMessage{r.Open, r.Turn}
	for i := range r.Opened {
		lists = append(lists, r.Opened[i:i+1])
	}
	for _, list := range lists {
		if m, ok := c.first(list); ok {
			sent = append(sent, m)
		}
	}
	return sent
}
