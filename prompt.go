package clichain

import (
	"strings"
)

// systemText joins the system messages with a blank line.
func systemText(messages []Message) string {
	var parts []string
	for _, m := range messages {
		if m.Role == RoleSystem {
			parts = append(parts, m.Content)
		}
	}
	return strings.Join(parts, "\n\n")
}

// promptText is the conversation as one text: a lone user message as it is,
// several turns as labelled blocks.
func promptText(messages []Message) string {
	var turns []Message
	for _, m := range messages {
		if m.Role != RoleSystem {
			turns = append(turns, m)
		}
	}
	if len(turns) == 1 && turns[0].Role == RoleUser {
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
