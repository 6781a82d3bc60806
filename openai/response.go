package openai

import (
	"github.com/clichain/clichain"
)

// response is an answer in the words of /v1/responses. The fields that ask for what is not done here have the value
// that says so.
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
	Clichain           *answered         `json:"clichain,omitempty"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// outputItem is the message that answers.
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

// newResponse is one that has only begun.
func newResponse(q *question, model string) response {
	metadata := q.metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	return response{
		ID: q.id, Object: "response", CreatedAt: q.asked.Unix(), Status: inProgress, Instructions: q.instructions,
		Metadata: metadata, Model: model, Output: []outputItem{}, ToolChoice: "none", Tools: []struct{}{},
	}
}

func outputPart(text string) outputText {
	return outputText{"output_text", text, []struct{}{}, []struct{}{}}
}

func outputMessage(id, status string, parts ...outputText) outputItem {
	return outputItem{id, "message", status, "assistant", append([]outputText{}, parts...)}
}

// completed is the response with its answer, a message of that id.
func (r response) completed(message string, resp *clichain.Response) response {
	r.Status = completed
	if truncated(resp) {
		r.Status, r.Incomplete = incomplete, map[string]string{"reason": "max_output_tokens"}
	}
	r.Output = []outputItem{outputMessage(message, r.Status, outputPart(resp.Text))}
	r.Usage, r.Clichain = responseUsageOf(resp.Usage), new(answeredBy(resp))
	return r
}
