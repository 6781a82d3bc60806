package response

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai/internal/request"
)

// response is an answer of /v1/responses. Fields of unsupported features have the value that turns the feature off.
type response struct {
	ID                 string            `json:"id"`
	Object             string            `json:"object"`
	CreatedAt          int64             `json:"created_at"`
	Status             string            `json:"status"`
	Error              *responseError    `json:"error"`
	Incomplete         map[string]string `json:"incomplete_details"`
	Instructions       *string           `json:"instructions"`
	Metadata           map[string]string `json:"metadata"`
	Model              string            `json:"model"`
	Output             []outputItem      `json:"output"`
	ParallelToolCalls  bool              `json:"parallel_tool_calls"`
	PreviousResponseID *string           `json:"previous_response_id"`
	Store              bool              `json:"store"`
	Temperature        *float64          `json:"temperature"`
	TopP               *float64          `json:"top_p"`
	ToolChoice         string            `json:"tool_choice"`
	Tools              []struct{}        `json:"tools"`
	Usage              *responseUsage    `json:"usage"`
	Clichain           *source           `json:"clichain,omitempty"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// outputItem is the message of the answer.
type outputItem struct {
	ID      string       `json:"id"`
	Type    string       `json:"type"`
	Status  string       `json:"status"`
	Role    string       `json:"role"`
	Content []outputText `json:"content"`
}

type outputText struct {
	Type        string     `json:"type"`
	Text        string     `json:"text"`
	Annotations []struct{} `json:"annotations"`
	Logprobs    []struct{} `json:"logprobs"`
}

const (
	inProgress = "in_progress"
	completed  = "completed"
	incomplete = "incomplete"
)

// newResponse returns a response in progress.
func newResponse(r *request.Request, model string) response {
	metadata := r.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	return response{
		ID: "resp_" + r.ID, Object: "response", CreatedAt: r.Created.Unix(), Status: inProgress, Instructions: r.Instructions,
		Metadata: metadata, Model: model, Output: []outputItem{}, ToolChoice: "none", Tools: []struct{}{},
	}
}

func outputPart(text string) outputText {
	return outputText{"output_text", text, []struct{}{}, []struct{}{}}
}

func outputMessage(id, status string, parts ...outputText) outputItem {
	return outputItem{id, "message", status, "assistant", append([]outputText{}, parts...)}
}

// Responses returns the body of a response.
func Responses(r *request.Request, resp *call.Response) any {
	return newResponse(r, resp.Model).completed(MessageID(r), resp)
}

// MessageID returns the id of the message in a response.
func MessageID(r *request.Request) string { return "msg_" + r.ID }

// completed returns the response with its answer, a message with that id.
func (r response) completed(message string, resp *call.Response) response {
	r.Status = completed
	if truncated(resp) {
		r.Status, r.Incomplete = incomplete, map[string]string{"reason": "max_output_tokens"}
	}
	r.Output = []outputItem{outputMessage(message, r.Status, outputPart(resp.Text))}
	r.Usage, r.Clichain = responseUsageOf(resp.Usage), sourceOf(resp)
	return r
}

// responseUsage is the usage of an answer as responses have it.
type responseUsage struct {
	Input  int64            `json:"input_tokens"`
	Cached map[string]int64 `json:"input_tokens_details"`
	Output int64            `json:"output_tokens"`
	Out    map[string]int64 `json:"output_tokens_details"`
	Total  int64            `json:"total_tokens"`
}

func responseUsageOf(u call.Usage) *responseUsage {
	return &responseUsage{
		u.InputTokens, map[string]int64{"cached_tokens": u.CacheReadTokens},
		u.OutputTokens, map[string]int64{"reasoning_tokens": u.ReasoningTokens}, u.InputTokens + u.OutputTokens,
	}
}
