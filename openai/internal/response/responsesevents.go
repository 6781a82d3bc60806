package response

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai/internal/apierror"
	"github.com/clichain/clichain/openai/internal/request"
)

// responsesEncoder makes the events of a response.
type responsesEncoder struct {
	request  *request.Request
	response response
	message  string // its id
	sequence int
}

// NewResponsesEncoder returns the encoder of a response.
func NewResponsesEncoder(r *request.Request) Encoder {
	return &responsesEncoder{request: r, message: MessageID(r)}
}

// responseEvent has the fields of all types of events.
type responseEvent struct {
	Type     string      `json:"type"`
	Sequence int         `json:"sequence_number"`
	Response *response   `json:"response,omitempty"`
	Output   *int        `json:"output_index,omitempty"`
	Content  *int        `json:"content_index,omitempty"`
	ItemID   string      `json:"item_id,omitempty"`
	Item     *outputItem `json:"item,omitempty"`
	Part     *outputText `json:"part,omitempty"`
	Delta    string      `json:"delta,omitempty"`
	Text     *string     `json:"text,omitempty"`
	Logprobs []struct{}  `json:"logprobs,omitzero"`
}

// event numbers an event. The response has one message with one part, and both have the index 0.
func (e *responsesEncoder) event(kind string, data responseEvent) Event {
	data.Type, data.Sequence = kind, e.sequence
	e.sequence++
	if data.Response == nil {
		data.Output = new(0)
	}
	if data.ItemID != "" {
		data.Content = new(0)
	}
	return Event{kind, data}
}

func (e *responsesEncoder) Begin(model string) []Event {
	e.response = newResponse(e.request, model)
	item, part := outputMessage(e.message, inProgress), outputPart("")
	return []Event{
		e.event("response.created", responseEvent{Response: new(e.response)}),
		e.event("response.in_progress", responseEvent{Response: new(e.response)}),
		e.event("response.output_item.added", responseEvent{Item: &item}),
		e.event("response.content_part.added", responseEvent{ItemID: e.message, Part: &part}),
	}
}

func (e *responsesEncoder) Text(piece string) []Event {
	return []Event{e.event("response.output_text.delta", responseEvent{
		ItemID: e.message, Delta: piece, Logprobs: []struct{}{},
	})}
}

func (e *responsesEncoder) Done(resp *call.Response) []Event {
	r := e.response.completed(e.message, resp)
	item := r.Output[0]
	return []Event{
		e.event("response.output_text.done", responseEvent{ItemID: e.message, Text: &resp.Text, Logprobs: []struct{}{}}),
		e.event("response.content_part.done", responseEvent{ItemID: e.message, Part: &item.Content[0]}),
		e.event("response.output_item.done", responseEvent{Item: &item}),
		e.event("response."+r.Status, responseEvent{Response: &r}),
	}
}

func (e *responsesEncoder) Failed(err *apierror.Error) []Event {
	r := e.response
	r.Status, r.Error = "failed", &responseError{err.Label(), err.Message}
	return []Event{e.event("response.failed", responseEvent{Response: &r})}
}
