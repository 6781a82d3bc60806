// Package response writes answers as OpenAI's API does, whole or as the events of a stream.
package response

import (
	"bytes"
	"encoding/json"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai/internal/apierror"
)

// Encoder makes the events of a stream. Call Begin first, then Text for each piece of text, then Done or Failed.
type Encoder interface {
	Begin(model string) []Event
	Text(piece string) []Event
	Done(resp *call.Response) []Event
	Failed(err *apierror.Error) []Event
}

// Event is an event of a stream. Its name can be empty.
type Event struct {
	name string
	data any
}

// endOfStream is the data of the last event of a chat completion.
type endOfStream struct{}

// Write appends the event.
func (e Event) Write(out *bytes.Buffer) error {
	if e.data == (endOfStream{}) {
		out.WriteString("data: [DONE]\n\n")
		return nil
	}
	if e.name != "" {
		out.WriteString("event: " + e.name + "\n")
	}
	out.WriteString("data: ")
	if err := WriteJSON(out, e.data); err != nil {
		return err
	}
	out.WriteString("\n") // the line has ended already
	return nil
}

// WriteJSON appends a value as a line of JSON without HTML escapes.
func WriteJSON(out *bytes.Buffer, value any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(value)
}
