package ask

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/clichain/clichain"
)

// doing describes what the CLI does, or returns "" if the event does not say it.
func doing(e clichain.Event) string {
	switch e.Kind {
	case clichain.EventSession:
		return "waits for " + cmp.Or(e.Model, "the model")
	case clichain.EventThinking:
		return "thinks"
	case clichain.EventDelta, clichain.EventText:
		return "answers"
	case clichain.EventToolUse:
		return "uses " + toolText(e)
	case clichain.EventToolResult, clichain.EventStatus: // their texts are part of the CLI's protocol
		return "waits for the model"
	case clichain.EventCompact:
		return "shortens what it remembers of the conversation"
	case clichain.EventReset:
		return "takes back the text so far: " + e.Message
	case clichain.EventRetry:
		return "tries again: " + e.Message + retryDetail(e)
	}
	return ""
}

func retryDetail(e clichain.Event) (detail string) {
	if e.Try > 0 {
		detail = fmt.Sprintf(" try %d", e.Try)
	}
	if e.Status > 0 {
		detail += fmt.Sprintf(" after status %d", e.Status)
	}
	return detail
}

// telling are the names of the fields in a tool's input that best describe its use.
var telling = []string{
	"command", "cmd", "file_path", "filePath", "absolute_path", "path", "pattern", "query", "url", "description",
}

// toolText returns the name of a tool and its command line, file or other input.
func toolText(e clichain.Event) string {
	input := []byte(e.Input)
	var text string
	if json.Unmarshal(input, &text) == nil { // some CLIs encode the object as a JSON string
		input = []byte(text)
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(input, &fields) // other values describe nothing
	for _, name := range telling {
		if used := words(fields[name]); used != "" {
			return e.Name + ": " + used
		}
	}
	return e.Name
}

// words returns a JSON string, or a list of strings on one line, or "" for other values.
func words(value json.RawMessage) string {
	var text string
	var list []string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	_ = json.Unmarshal(value, &list)
	return strings.Join(list, " ")
}
