package clients_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// goRun executes an order with the official client for Go.
type goRun struct {
	order
	client openai.Client
}

// startInGo starts the official client for Go.
func startInGo(t *testing.T, e *endpoint) func(order) outcome {
	return func(o order) outcome {
		key := e.token
		if o.APIKey != "" {
			key = o.APIKey
		}
		g := &goRun{order: o}
		g.client = openai.NewClient(option.WithBaseURL(e.baseURL), option.WithAPIKey(key), option.WithMaxRetries(0))
		run, ok := map[string]func(context.Context) (outcome, error){
			"answer": g.answer, "headers": g.headers, "stream": g.stream, "talk": g.talk, "respond": g.respond, "respondTwice": g.respondTwice,
			"models": g.models,
			"embed":  g.embed, "complete": g.complete,
		}[o.Function]
		if !ok {
			return outcome{None: true}
		}
		got, err := run(t.Context())
		if err != nil {
			got.Error = g.failure(err)
		}
		return got
	}
}

func (g *goRun) failure(err error) *failure {
	f := &failure{Class: "error", Message: err.Error()}
	if e, ok := errors.AsType[*openai.Error](err); ok {
		f.Class, f.Status, f.Message, f.Param = "*openai.Error", e.StatusCode, e.Message, e.Param
		f.RetryAfter = e.Response.Header.Get("Retry-After")
	}
	return f
}

func (g *goRun) params(prompt string) openai.ChatCompletionNewParams {
	user := openai.UserMessage(prompt)
	if g.Image != "" {
		user = openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
			openai.TextContentPart(prompt), openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: g.Image}),
		})
	}
	p := openai.ChatCompletionNewParams{Model: g.Model}
	if g.System != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(g.System))
	}
	p.Messages = append(p.Messages, user)
	g.set(&p)
	return p
}

func (g *goRun) set(p *openai.ChatCompletionNewParams) {
	if s := g.Settings; s.Temperature != nil {
		p.Temperature, p.MaxTokens, p.Seed = openai.Float(*s.Temperature), openai.Int(s.MaxTokens), openai.Int(s.Seed)
	}
	if g.Settings.Stop != "" {
		p.Stop.OfString = openai.String(g.Settings.Stop)
	}
	if g.Settings.N > 0 {
		p.N = openai.Int(g.Settings.N)
	}
	if g.Settings.Logprobs {
		p.Logprobs = openai.Bool(true)
	}
	if g.JSON {
		p.ResponseFormat.OfJSONObject = &openai.ResponseFormatJSONObjectParam{}
	}
	if g.Schema != nil {
		p.ResponseFormat.OfJSONSchema = &openai.ResponseFormatJSONSchemaParam{
			JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{Name: "city", Schema: g.Schema, Strict: openai.Bool(true)},
		}
	}
	if g.Tools {
		p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "f"})}
	}
}

func whole(c *openai.ChatCompletion) outcome {
	return outcome{
		Text: c.Choices[0].Message.Content, Finish: c.Choices[0].FinishReason,
		Input: c.Usage.PromptTokens, Output: c.Usage.CompletionTokens,
	}
}

func (g *goRun) answer(ctx context.Context) (outcome, error) {
	c, err := g.client.Chat.Completions.New(ctx, g.params(g.Prompt))
	if err != nil {
		return outcome{}, err
	}
	return whole(c), nil
}

func (g *goRun) headers(ctx context.Context) (outcome, error) {
	var raw *http.Response
	_, err := g.client.Chat.Completions.New(ctx, g.params(g.Prompt), option.WithResponseInto(&raw))
	if err != nil {
		return outcome{}, err
	}
	headers := map[string]string{}
	for name := range raw.Header {
		headers[strings.ToLower(name)] = raw.Header.Get(name)
	}
	return outcome{Headers: headers}, nil
}

func (g *goRun) stream(ctx context.Context) (got outcome, _ error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := g.params(g.Prompt)
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	s := g.client.Chat.Completions.NewStreaming(ctx, p)
	defer s.Close()
	var all openai.ChatCompletionAccumulator
	for s.Next() {
		chunk := s.Current()
		all.AddChunk(chunk)
		if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			if got.Pieces++; g.Leave {
				cancel()
			}
		}
	}
	if err := s.Err(); err != nil && !errors.Is(err, context.Canceled) {
		return got, err
	}
	count := got.Pieces
	got = whole(&all.ChatCompletion)
	got.Pieces, got.Left = count, errors.Is(s.Err(), context.Canceled)
	return got, nil
}

func (g *goRun) talk(ctx context.Context) (outcome, error) {
	p := g.params(g.Before)
	first, err := g.client.Chat.Completions.New(ctx, p)
	if err != nil {
		return outcome{}, err
	}
	p.Messages = append(p.Messages, first.Choices[0].Message.ToParam(), openai.UserMessage(g.Prompt))
	second, err := g.client.Chat.Completions.New(ctx, p)
	if err != nil {
		return outcome{}, err
	}
	return whole(second), nil
}

func (g *goRun) respond(ctx context.Context) (outcome, error) {
	r, err := g.client.Responses.New(ctx, responses.ResponseNewParams{
		Model: g.Model, Instructions: openai.String(g.System), Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(g.Prompt)},
	})
	if err != nil {
		return outcome{}, err
	}
	return outcome{
		Text: r.OutputText(), Finish: string(r.Status), Input: r.Usage.InputTokens, Output: r.Usage.OutputTokens,
	}, nil
}

func (g *goRun) respondTwice(ctx context.Context) (outcome, error) {
	message := func(text string) responses.ResponseInputItemUnionParam {
		return responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleUser)
	}
	p := responses.ResponseNewParams{Model: g.Model}
	p.Input.OfInputItemList = responses.ResponseInputParam{message(g.Before)}
	r, err := g.client.Responses.New(ctx, p)
	if err != nil {
		return outcome{}, err
	}
	said := r.Output[0].AsMessage().ToParam()
	p.Input.OfInputItemList = append(p.Input.OfInputItemList,
		responses.ResponseInputItemUnionParam{OfOutputMessage: &said}, message(g.Prompt))
	if r, err = g.client.Responses.New(ctx, p); err != nil {
		return outcome{}, err
	}
	return outcome{Text: r.OutputText()}, nil
}

func (g *goRun) models(ctx context.Context) (got outcome, _ error) {
	pager := g.client.Models.ListAutoPaging(ctx)
	for pager.Next() {
		got.Names = append(got.Names, pager.Current().ID)
	}
	return got, pager.Err()
}

func (g *goRun) embed(ctx context.Context) (outcome, error) {
	_, err := g.client.Embeddings.New(ctx, openai.EmbeddingNewParams{
		Model: g.Model, Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String(g.Prompt)},
	})
	return outcome{}, err
}

func (g *goRun) complete(ctx context.Context) (outcome, error) {
	_, err := g.client.Completions.New(ctx, openai.CompletionNewParams{
		Model: openai.CompletionNewParamsModel(g.Model), Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(g.Prompt)},
	})
	return outcome{}, err
}
