package mcpserver

import (
	"cmp"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxResult limits the bytes of an answer. The context of the client's model is limited.
	maxResult = 100_000
	// maxMessage limits the bytes of an error.
	maxMessage = 4_000
)

// answerOf returns the answer, and a line with the backend that gave it.
func answerOf(resp *clichain.Response) *mcp.CallToolResult {
	answer, cut := shorten(resp.Text, maxResult)
	by := "Answered by " + resp.Backend
	if resp.Model != "" {
		by += " with the model " + resp.Model
	}
	for _, a := range resp.Attempts {
		by += fmt.Sprintf("; %s: %s", a.Backend, a.Reason)
	}
	if cut {
		by += fmt.Sprintf(". Only the first %d of %d bytes are shown: ask for a shorter answer", len(answer), len(resp.Text))
	}
	return &mcp.CallToolResult{
		Meta:    mcp.Meta{"clichain/backend": resp.Backend, "clichain/model": resp.Model, "clichain/truncated": cut},
		Content: []mcp.Content{&mcp.TextContent{Text: answer}, &mcp.TextContent{Text: by + "."}},
	}
}

// shorten returns the beginning of a text, in at most limit bytes.
func shorten(text string, limit int) (short string, cut bool) {
	if len(text) <= limit {
		return text, false
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit], true
}

// failure is the structured content of an error.
type failure struct {
	Reason     clichain.Reason `json:"reason"`
	Message    string          `json:"message"`
	RetryAfter time.Time       `json:"retry_after,omitzero"`
	Attempts   []attempt       `json:"attempts,omitempty"`
}

// attempt is why one backend did not answer.
type attempt struct {
	Backend string          `json:"backend"`
	Reason  clichain.Reason `json:"reason"`
	Message string          `json:"message,omitempty"`
}

// failureOf returns the parts of an error that a client may see: no output of a CLI except its error message.
func failureOf(err error) failure {
	f := failure{Reason: clichain.ReasonExit}
	f.Message, _ = shorten(console.Message(err), maxMessage)
	if be, ok := errors.AsType[*clichain.BackendError](err); ok {
		f.Reason, f.RetryAfter = be.Reason, be.RetryAfter
	}
	if errors.Is(err, clichain.ErrCanceled) {
		f.Reason = clichain.ReasonCanceled
	}
	if chain, ok := errors.AsType[*clichain.ChainError](err); ok {
		f.Reason, f.RetryAfter = cmp.Or(chain.Reason(), f.Reason), chain.RetryAfter()
		for _, a := range chain.Attempts {
			text := ""
			if be, ok := errors.AsType[*clichain.BackendError](a.Err); ok {
				text, _ = shorten(be.Detail(), maxMessage)
			}
			f.Attempts = append(f.Attempts, attempt{a.Backend, a.Reason, text})
		}
	}
	return f
}

func (f failure) result() *mcp.CallToolResult {
	return &mcp.CallToolResult{
		IsError: true, StructuredContent: f, Content: []mcp.Content{&mcp.TextContent{Text: f.Message}},
	}
}
