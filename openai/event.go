package openai

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/clichain/clichain"
)

// voice says an answer in the events of an API, in this order: begin, text for each piece, then done or failed.
type voice interface {
	begin(model string) []event
	text(piece string) []event
	done(resp *clichain.Response) []event
	failed(err *apiError) []event
}

// event is one of a stream. Without a name it has data alone.
type event struct {
	name string
	data any
}

// last is the event that ends a stream of chat completions.
type last struct{}

func (e event) write(out *bytes.Buffer) error {
	if _, ends := e.data.(last); ends {
		out.WriteString("data: [DONE]\n\n")
		return nil
	}
	if e.name != "" {
		out.WriteString("event: " + e.name + "\n")
	}
	out.WriteString("data: ")
	if err := encode(out, e.data); err != nil {
		return err
	}
	out.WriteString("\n") // the line has ended already
	return nil
}

// encode writes a value as a line of JSON, with its text as it is.
func encode(out *bytes.Buffer, value any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// json sends a value as the whole response.
func (w *reply) json(value any) *apiError {
	var out bytes.Buffer
	if err := encode(&out, value); err != nil {
		return fault(http.StatusInternalServerError, typeServer, "", "%v", err)
	}
	w.Header().Set("Content-Type", "application/json")
	boundWriting(w)
	_, _ = w.Write(out.Bytes()) // a client that left needs no answer
	return nil
}
