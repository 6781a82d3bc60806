package otel

import (
	"encoding/json"

	"github.com/clichain/clichain"
)

// message is a message in the form of the semantic conventions.
type message struct {
	Role         string `json:"role"`
	Parts        []part `json:"parts"`
	FinishReason string `json:"finish_reason,omitempty"`
}

type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

func inputJSON(messages []clichain.Message) string {
	list := make([]message, len(messages))
	for i, m := range messages {
		list[i] = textMessage(string(m.Role), m.Content)
	}
	return toJSON(list)
}

func outputJSON(text string) string {
	m := textMessage(string(clichain.RoleAssistant), text)
	m.FinishReason = "stop"
	return toJSON([]message{m})
}

func textMessage(role, text string) message {
	return message{Role: role, Parts: []part{{Type: "text", Content: text}}}
}

func toJSON(list []message) string {
	data, _ := json.Marshal(list) // strings cannot fail
	return string(data)
}
