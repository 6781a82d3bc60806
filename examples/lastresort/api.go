package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain"
)

const maxAnswer = 8 << 20 // bytes

// api is an endpoint with the API of OpenAI.
type api struct{ base, key, model string }

// completion is a request to the endpoint. Unset fields are omitted.
type completion struct {
	Model    string             `json:"model"`
	Messages []clichain.Message `json:"messages"`
	Format   *format            `json:"response_format,omitempty"`
}

type format struct {
	Type   string `json:"type"`
	Schema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// answer is the part of the response that this example uses.
type answer struct {
	Model   string
	Choices []struct{ Message struct{ Content string } }
	Usage   struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	}
	Error struct{ Message string }
}

// complete is the function of the backend. Each error has a reason, from which the chain decides what to do next. The
// chain recognizes a canceled context by itself.
func (a *api) complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	switch {
	case a.base == "" || a.key == "":
		return nil, fmt.Errorf("%w: set OPENAI_BASE_URL and OPENAI_API_KEY", clichain.ErrUnauthenticated)
	case req.Access != clichain.AccessNone || req.Session != "" || !reflect.ValueOf(req.Options).IsZero():
		return nil, fmt.Errorf("%w: the API answers only plain questions", clichain.ErrUnsupported)
	}
	ctx, cancel := context.WithTimeout(ctx, clichain.DefaultTimeout)
	defer cancel()
	r, err := a.request(ctx, req)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(r)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", clichain.ErrNetwork, err)
	}
	defer resp.Body.Close()
	return read(resp)
}

func (a *api) request(ctx context.Context, req clichain.Request) (*http.Request, error) {
	said := completion{Model: cmp.Or(req.Model, a.model), Messages: req.Messages}
	if len(req.Schema) > 0 {
		said.Format = &format{Type: "json_schema"}
		said.Format.Schema.Name, said.Format.Schema.Schema = "answer", req.Schema
	}
	body, err := json.Marshal(said)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", clichain.ErrBadRequest, err)
	}
	url := strings.TrimSuffix(a.base, "/") + "/chat/completions"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: OPENAI_BASE_URL: %w", clichain.ErrUnsupported, err)
	}
	r.Header.Set("Authorization", "Bearer "+a.key)
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}

func read(resp *http.Response) (*clichain.Response, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", clichain.ErrNetwork, err)
	}
	var said answer
	err = json.Unmarshal(body, &said)
	if resp.StatusCode != http.StatusOK {
		return nil, failure(resp, cmp.Or(said.Error.Message, resp.Status))
	}
	if err != nil || len(said.Choices) == 0 {
		return nil, fmt.Errorf("%w: no completion in %d bytes", clichain.ErrBadOutput, len(body))
	}
	return &clichain.Response{
		Text: said.Choices[0].Message.Content, Model: said.Model,
		Usage: clichain.Usage{InputTokens: said.Usage.Prompt, OutputTokens: said.Usage.Completion},
	}, nil
}

// reasons maps HTTP statuses to reasons. Another 4xx means an invalid request, another 5xx a failure of the service.
var reasons = map[int]clichain.Reason{
	http.StatusUnauthorized:          clichain.ReasonUnauthenticated,
	http.StatusPaymentRequired:       clichain.ReasonBilling,
	http.StatusForbidden:             clichain.ReasonUnauthenticated,
	http.StatusNotFound:              clichain.ReasonBadModel,
	http.StatusRequestTimeout:        clichain.ReasonNetwork,
	http.StatusRequestEntityTooLarge: clichain.ReasonContextOverflow,
	http.StatusTooManyRequests:       clichain.ReasonRateLimited,
	http.StatusServiceUnavailable:    clichain.ReasonOverloaded,
}

func failure(resp *http.Response, message string) error {
	other := clichain.ReasonServerError
	if resp.StatusCode < http.StatusInternalServerError {
		other = clichain.ReasonBadRequest
	}
	e := &clichain.BackendError{Reason: cmp.Or(reasons[resp.StatusCode], other), Message: message}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Now().Add(time.Duration(seconds) * time.Second)
	}
	return e
}
