package openai

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/clichain/clichain"
)

// ParseChatRequest reads the body of a chat completion that did not come over HTTP, such as one of a batch file. It
// refuses what the handler refuses, and images. The fields of [IgnorableFields] have no effect; ignored lists those
// that ask for something, in alphabetical order.
func ParseChatRequest(body []byte) (req clichain.Request, ignored []string, err error) {
	q, failed := readChat(body, IgnorableFields())
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
