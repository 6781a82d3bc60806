package openai

import (
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// choice is the one choice of a completion, or of a chunk of it.
type choice struct {
	Index        int       `json:"index"`
	Message      *said     `json:"message,omitempty"`
	Delta        *delta    `json:"delta,omitempty"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

type said struct {
	Role        string     `json:"role"`
	Content     string     `json:"content"`
	Refusal     *string    `json:"refusal"`
	Annotations []struct{} `json:"annotations"`
}

type delta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

// completion is a whole answer, or a chunk of one.
type completion struct {
	ID       string     `json:"id"`
	Object   string     `json:"object"`
	Created  int64      `json:"created"`
	Model    string     `json:"model"`
	Choices  []choice   `json:"choices"`
	Usage    *chatUsage `json:"usage,omitempty"`
	Clichain *answered  `json:"clichain,omitempty"`
}

func wholeChat(q *question, resp *clichain.Response) any {
	return completion{
		q.id, "chat.completion", q.asked.Unix(), resp.Model,
		[]choice{{Message: &said{"assistant", resp.Text, nil, []struct{}{}}, FinishReason: finishReason(resp)}},
		chatUsageOf(resp.Usage), new(answeredBy(resp)),
	}
}

// finishReason says whether the text is all that there is.
func finishReason(resp *clichain.Response) *string {
	if truncated(resp) {
		return new("length")
	}
	return new("stop")
}

// chatVoice says an answer in chunks.
type chatVoice struct {
	q     *question
	model string
}

func (v *chatVoice) chunk(choices ...choice) completion {
	return completion{v.q.id, "chat.completion.chunk", v.q.asked.Unix(), v.model, append([]choice{}, choices...), nil, nil}
}

func (v *chatVoice) begin(model string) []event {
	v.model = model
	return []event{{"", v.chunk(choice{Delta: &delta{"assistant", new("")}})}}
}

func (v *chatVoice) text(piece string) []event {
	return []event{{"", v.chunk(choice{Delta: &delta{"", &piece}})}}
}

func (v *chatVoice) done(resp *clichain.Response) []event {
	end := v.chunk(choice{Delta: &delta{}, FinishReason: finishReason(resp)})
	end.Clichain = new(answeredBy(resp))
	events := []event{{"", end}}
	if v.q.usage {
		used := v.chunk()
		used.Usage = chatUsageOf(resp.Usage)
		events = append(events, event{"", used})
	}
	return append(events, event{"", last{}})
}

func (v *chatVoice) failed(err *apiError) []event {
	return []event{{"", map[string]any{"error": err}}}
}

// truncated reports whether the text may be incomplete.
func truncated(resp *clichain.Response) bool {
	return slices.Contains(resp.Flags, call.FlagTruncated)
}
