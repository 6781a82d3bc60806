package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/clichain/clichain/openai"
)

// chatPath is the only path of OpenAI's API that a line may contain.
const chatPath = "/v1/chat/completions"

// openAILine is one request of OpenAI's batch API.
type openAILine struct {
	ID     *lineID         `json:"custom_id"`
	Method string          `json:"method"`
	URL    string          `json:"url"`
	Body   json.RawMessage `json:"body"`
}

// isOpenAI reports whether a line is a request of OpenAI's batch API.
func isOpenAI(text []byte) bool {
	if !bytes.Contains(text, []byte(`"custom_id"`)) {
		return false
	}
	var parts map[string]json.RawMessage
	return json.Unmarshal(text, &parts) == nil && parts["custom_id"] != nil && parts["body"] != nil
}

// parseOpenAI parses a line of OpenAI's batch API.
func parseOpenAI(text []byte) (*entry, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var line openAILine
	if err := d.Decode(&line); err != nil {
		return nil, fmt.Errorf("is not a request of OpenAI's batch API: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	switch {
	case line.ID == nil:
		return nil, errors.New("custom_id: is missing")
	case line.Method != "" && line.Method != "POST":
		return nil, fmt.Errorf("method: %q: only POST is supported", line.Method)
	case line.URL != "" && line.URL != chatPath:
		return nil, fmt.Errorf("url: %q: only %s is supported", line.URL, chatPath)
	}
	req, ignored, err := openai.ParseChatRequest(line.Body)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	e := &entry{id: line.ID, schema: req.Schema, messages: []message{}, ignored: ignored}
	for _, m := range req.Messages {
		e.messages = append(e.messages, message(m))
	}
	if req.Model != "" {
		e.model = &req.Model
	}
	if req.Options.Effort != "" {
		e.options, err = json.Marshal(req.Options)
	}
	return e, err
}
