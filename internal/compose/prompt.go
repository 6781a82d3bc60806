package compose

import (
	"strings"

	"github.com/clichain/clichain/call"
)

// systemText joins the system messages with a blank line.
func systemText(messages []call.Message) string {
	var parts []string
	for _, m := range messages {
		if m.Role == call.RoleSystem {
			parts = append(parts, m.Content)
		}
	}
	return strings.Join(parts, "\n\n")
}

// promptText is the conversation as one text: a lone user message as it is,
// several turns as labelled blocks.
func promptText(messages []call.Message) string {
	var turns []call.Message
	for _, m := range messages {
		if m.Role != call.RoleSystem {
			turns = append(turns, m)
		}
	}
	if len(turns) == 1 && turns[0].Role == call.RoleUser {
		return turns[0].Content
	}
	blocks := make([]string, len(turns))
	for i, m := range turns {
		blocks[i] = strings.ToUpper(string(m.Role)) + ": " + m.Content
	}
	return strings.Join(blocks, "\n\n")
}

// withSystem puts the system text in front, for a CLI with no place for it.
func withSystem(system, prompt string) string {
	return "SYSTEM: " + system + "\n\n" + prompt
}

// schemaPrompt asks for a structured answer in words, where the CLI has no
// flag for it.
func schemaPrompt(schema string) string {
	return "Answer with one JSON value that is valid under the following JSON Schema, and with nothing else: no explanation, no code fence.\n\n" + schema
}
