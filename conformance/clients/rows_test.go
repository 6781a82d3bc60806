package clients_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// row is a feature of the endpoint, or an error that a client must report.
type row struct {
	name string
	order
	check func(outcome) error
	// without are the clients that have no such function, or do not send the field.
	without []string
}

const (
	citySchema = `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`
	// pixel is an image.
	pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

var rows = []row{
	{name: "answer", order: order{Function: "answer", Prompt: promptSay}, check: all(text(threeWords), finish("stop", "completed"))},
	{name: "stream", order: order{Function: "stream", Prompt: promptSay}, check: all(text(threeWords), pieces(3))},
	{name: "usage of an answer", order: order{Function: "answer", Prompt: promptSay}, check: usage},
	{name: "usage of a stream", order: order{Function: "stream", Prompt: promptSay}, check: usage},
	{
		name:  "headers `Clichain-Backend` and `Clichain-Ignored`",
		order: order{Function: "headers", Prompt: promptSay, Settings: settings{Temperature: new(0.0), MaxTokens: 5, Seed: 1}},
		check: headers, without: []string{langChain},
	},
	{
		name: "system prompt", order: order{Function: "answer", System: "be brief", Prompt: promptReport},
		check: reported(func(r report) bool { return r.System == "be brief" }),
	},
	{
		name:  "second turn, with the first answer as the client returned it",
		order: order{Function: "talk", Before: promptSay, Prompt: promptReport},
		check: continued,
	},
	{
		name:  "`temperature`, a token limit and `seed` are accepted",
		order: order{Function: "answer", Prompt: promptSay, Settings: settings{Temperature: new(0.0), MaxTokens: 5, Seed: 1}},
		check: text(threeWords),
	},
	{
		name: "`stop`", order: order{Function: "answer", Prompt: promptSay, Settings: settings{Stop: " th"}},
		check: all(text("one two"), finish("stop")), without: []string{aiOpenAI},
	},
	{
		name: "`stop` in a stream", order: order{Function: "stream", Prompt: promptSay, Settings: settings{Stop: "e t"}},
		check: text("on"), without: []string{aiOpenAI},
	},
	{name: "JSON of any form", order: order{Function: "answer", Prompt: "a city", JSON: true}, check: object},
	{name: "JSON Schema", order: order{Function: "answer", Prompt: "a city", Schema: json.RawMessage(citySchema)}, check: object},
	{name: "JSON Schema in a stream", order: order{Function: "stream", Prompt: "a city", Schema: json.RawMessage(citySchema)}, check: object},
	{
		name: "image", order: order{Function: "answer", Prompt: promptReport, Image: pixel},
		check: reported(func(r report) bool { return strings.Contains(r.Image, "PNG") }),
	},
	{name: "`/v1/responses`", order: order{Function: "respond", System: "be brief", Prompt: promptSay}, check: text(threeWords), without: []string{aiCompatible}},
	{
		name: "second turn through `/v1/responses`", order: order{Function: "respondTwice", Before: promptSay, Prompt: promptReport},
		check: continued, without: []string{aiCompatible},
	},
	{
		name:  "two turns with `--model-alias gpt-5=fake/large`",
		order: order{Function: "talk", Model: "gpt-5", System: "be brief", Before: promptSay, Prompt: promptReport},
		check: all(continued, reported(func(r report) bool { return r.Model == "large" && r.System == "be brief" })),
	},
	{name: "list of models", order: order{Function: "models"}, check: models, without: []string{aiOpenAI, aiCompatible, langChain}},
	{
		name: "cancellation during a stream", order: order{Function: "stream", Prompt: promptHang, Leave: true},
		check: func(o outcome) error { return expect(o.Text == "one" && o.Left, o) },
	},
	{name: "unknown model", order: order{Function: "answer", Model: "gpt-4o", Prompt: promptSay}, check: fails(404, `no CLI here has the model "gpt-4o"`)},
	{name: "tools", order: order{Function: "answer", Prompt: promptSay, Tools: true}, check: refuses("tools")},
	{name: "`n` above 1", order: order{Function: "answer", Prompt: promptSay, Settings: settings{N: 2}}, check: refuses("n"), without: []string{aiOpenAI, aiCompatible}},
	{name: "`logprobs`", order: order{Function: "answer", Prompt: promptSay, Settings: settings{Logprobs: true}}, check: refuses("logprobs", "include"), without: []string{aiCompatible}},
	{name: "embeddings", order: order{Function: "embed", Prompt: "x"}, check: fails(404, "CLIs compute no embeddings")},
	{name: "legacy completions", order: order{Function: "complete", Prompt: "x"}, check: fails(404, "CLIs answer messages")},
	{name: "wrong token", order: order{Function: "answer", Prompt: promptSay, APIKey: "wrong"}, check: fails(401, "the token is missing or wrong")},
	{name: "rate limit", order: order{Function: "answer", Prompt: promptLimit}, check: all(fails(429, "rate_limited"), retryAfter)},
	{name: "failure during a stream", order: order{Function: "stream", Prompt: promptBreak}, check: failsLater},
}

// all returns a check that makes several checks.
func all(checks ...func(outcome) error) func(outcome) error {
	return func(o outcome) error {
		for _, check := range checks {
			if err := check(o); err != nil {
				return err
			}
		}
		return nil
	}
}

func expect(ok bool, o outcome) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%+v, error %+v", o, o.Error)
}

func text(want string) func(outcome) error {
	return func(o outcome) error { return expect(o.Error == nil && o.Text == want, o) }
}

func finish(ways ...string) func(outcome) error {
	return func(o outcome) error { return expect(slices.Contains(ways, o.Finish), o) }
}

func pieces(atLeast int) func(outcome) error {
	return func(o outcome) error { return expect(o.Pieces >= atLeast, o) }
}

func usage(o outcome) error { return expect(o.Input == inputTokens && o.Output == outputTokens, o) }

func headers(o outcome) error {
	return expect(o.Headers["clichain-backend"] == "fake" && strings.Contains(o.Headers["clichain-ignored"], "temperature"), o)
}

func models(o outcome) error {
	return expect(slices.Equal(o.Names, []string{"clichain", "fake", "gpt-5", "fake/large", "fake/small"}), o)
}

func object(o outcome) error {
	return expect(o.Text == city && (o.Object == nil || string(o.Object) == city), o)
}

// reported returns a check of the input of the fake CLI.
func reported(valid func(report) bool) func(outcome) error {
	return func(o outcome) error {
		var r report
		return expect(json.Unmarshal([]byte(o.Text), &r) == nil && valid(r), o)
	}
}

var continued = reported(func(r report) bool { return inOrder(r.Prompt, promptSay, threeWords, promptReport) })

// inOrder reports whether a text contains the parts in their order.
func inOrder(text string, parts ...string) bool {
	for _, part := range parts {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}

// fails returns a check of an error. Its message is that of the server, and not only that of the client.
func fails(status int, message string) func(outcome) error {
	return func(o outcome) error {
		return expect(o.Error != nil && o.Error.Status == status && strings.Contains(o.Error.Message, message), o)
	}
}

// refuses returns a check of an error that names one of the fields.
func refuses(fields ...string) func(outcome) error {
	return func(o outcome) error {
		return expect(o.Error != nil && o.Error.Status == 400 && slices.Contains(fields, o.Error.Param), o)
	}
}

func retryAfter(o outcome) error { return expect(o.Error.RetryAfter != "", o) }

func failsLater(o outcome) error {
	return expect(o.Error != nil && strings.Contains(o.Error.Message, "Internal Server Error"), o)
}
