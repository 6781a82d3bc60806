package serve

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/clichain/clichain"
)

// ChatRequest reads the body of a chat completion that nobody sent over HTTP, and refuses what the handler refuses,
// images too. Only the fields of [Ignorable] have no effect: ignored has those that ask for something.
func ChatRequest(body []byte) (req clichain.Request, ignored []string, err error) {
	q, failed := readChat(body, Ignorable())
	if failed == nil && len(q.images) > 0 {
		failed = refusal("messages", "unsupported_value", "images are read from requests over HTTP alone")
	}
	if failed != nil {
		return clichain.Request{}, nil, errors.New(failed.Message)
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(body, &parts); err != nil {
		return clichain.Request{}, nil, err
	}
	for name, value := range parts {
		if f := chatFields[name]; f.may && !f.neutralAt(value) {
			ignored = append(ignored, name)
		}
	}
	slices.Sort(ignored)
	return q.req, ignored, nil
}
