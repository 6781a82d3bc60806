package openai

import (
	"github.com/clichain/clichain"
)

// responseVoice says an answer in the events of /v1/responses.
type responseVoice struct {
	q        *question
	response response
	message  string // its id
	sequence int
}

// responseEvent has the fields of all kinds of events; which are set depends on the type.
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

// event numbers an event. There is one message, and one part of it, both of the number 0.
func (v *responseVoice) event(kind string, e responseEvent) event {
	e.Type, e.Sequence = kind, v.sequence
	v.sequence++
	if e.Response == nil {
		e.Output = new(0)
	}
	if e.ItemID != "" {
		e.Content = new(0)
	}
	return event{kind, e}
}

func (v *responseVoice) begin(model string) []event {
	v.response, v.message = newResponse(v.q, model), newID("msg_")
	item, part := outputMessage(v.message, inProgress), outputPart("")
	return []event{
		v.event("response.created", responseEvent{Response: new(v.response)}),
		v.event("response.in_progress", responseEvent{Response: new(v.response)}),
		v.event("response.output_item.added", responseEvent{Item: &item}),
		v.event("response.content_part.added", responseEvent{ItemID: v.message, Part: &part}),
	}
}

func (v *responseVoice) text(piece string) []event {
	return []event{v.event("response.output_text.delta", responseEvent{
		ItemID: v.message, Delta: piece, Logprobs: []struct{}{},
	})}
}

func (v *responseVoice) done(resp *clichain.Response) []event {
	r := v.response.completed(v.message, resp)
	item := r.Output[0]
	return []event{
		v.event("response.output_text.done", responseEvent{ItemID: v.message, Text: &resp.Text, Logprobs: []struct{}{}}),
		v.event("response.content_part.done", responseEvent{ItemID: v.message, Part: &item.Content[0]}),
		v.event("response.output_item.done", responseEvent{Item: &item}),
		v.event("response."+r.Status, responseEvent{Response: &r}),
	}
}

func (v *responseVoice) failed(err *apiError) []event {
	r := v.response
	r.Status, r.Error = "failed", &responseError{err.code(), err.Message}
	return []event{v.event("response.failed", responseEvent{Response: &r})}
}
