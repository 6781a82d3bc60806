package response

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai/internal/apierror"
	"github.com/clichain/clichain/openai/internal/request"
)

const chatID = "chatcmpl-"

// choice is the only choice of a completion or of a chunk.
type choice struct {
	Index        int       `json:"index"`
	Message      *message  `json:"message,omitempty"`
	Delta        *delta    `json:"delta,omitempty"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
}

type message struct {
	Role        string     `json:"role"`
	Content     string     `json:"content"`
	Refusal     *string    `json:"refusal"`
	Annotations []struct{} `json:"annotations"`
}

type delta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

// completion is an answer or a chunk of it.
type completion struct {
	ID       string     `json:"id"`
	Object   string     `json:"object"`
	Created  int64      `json:"created"`
	Model    string     `json:"model"`
	Choices  []choice   `json:"choices"`
	Usage    *chatUsage `json:"usage,omitempty"`
	Clichain *source    `json:"clichain,omitempty"`
}

// Chat returns the body of a chat completion.
func Chat(r *request.Request, resp *call.Response) any {
	return completion{
		chatID + r.ID, "chat.completion", r.Created.Unix(), resp.Model,
		[]choice{{Message: &message{"assistant", resp.Text, nil, []struct{}{}}, FinishReason: finishReason(resp)}},
		chatUsageOf(resp.Usage), sourceOf(resp),
	}
}

func finishReason(resp *call.Response) *string {
	if truncated(resp) {
		return new("length")
	}
	return new("stop")
}

// chatEncoder makes the chunks of a chat completion.
type chatEncoder struct {
	request *request.Request
	model   string
}

// NewChatEncoder returns the encoder of a chat completion.
func NewChatEncoder(r *request.Request) Encoder { return &chatEncoder{request: r} }

func (e *chatEncoder) chunk(choices ...choice) completion {
	return completion{
		chatID + e.request.ID, "chat.completion.chunk", e.request.Created.Unix(), e.model, append([]choice{}, choices...),
		nil, nil,
	}
}

func (e *chatEncoder) Begin(model string) []Event {
	e.model = model
	return []Event{{"", e.chunk(choice{Delta: &delta{"assistant", new("")}})}}
}

func (e *chatEncoder) Text(piece string) []Event {
	return []Event{{"", e.chunk(choice{Delta: &delta{"", &piece}})}}
}

func (e *chatEncoder) Done(resp *call.Response) []Event {
	end := e.chunk(choice{Delta: &delta{}, FinishReason: finishReason(resp)})
	end.Clichain = sourceOf(resp)
	events := []Event{{"", end}}
	if e.request.Usage {
		usage := e.chunk()
		usage.Usage = chatUsageOf(resp.Usage)
		events = append(events, Event{"", usage})
	}
	return append(events, Event{"", endOfStream{}})
}

func (e *chatEncoder) Failed(err *apierror.Error) []Event {
	return []Event{{"", map[string]any{"error": err}}}
}

// chatUsage is the usage of an answer as chat completions have it.
type chatUsage struct {
	Prompt     int64            `json:"prompt_tokens"`
	Completion int64            `json:"completion_tokens"`
	Total      int64            `json:"total_tokens"`
	In         map[string]int64 `json:"prompt_tokens_details"`
	Out        map[string]int64 `json:"completion_tokens_details"`
}

func chatUsageOf(u call.Usage) *chatUsage {
	return &chatUsage{
		u.InputTokens, u.OutputTokens, u.InputTokens + u.OutputTokens,
		map[string]int64{"cached_tokens": u.CacheReadTokens}, map[string]int64{"reasoning_tokens": u.ReasoningTokens},
	}
}
