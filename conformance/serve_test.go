package conformance_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
)

// endpoint is a "clichain serve" process in the home of a real CLI.
type endpoint struct {
	cmd            *exec.Cmd
	out            *bufio.Reader
	log            *bytes.Buffer
	baseURL, token string
	model          string
}

func serving(t *testing.T, program string, h home.Home, args ...string) *endpoint {
	t.Helper()
	token := filepath.Join(h.Work, "token")
	_, log, cmd := commandIn(t, program, h, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--token-file", token, "--only", h.Name, "--timeout", "300s", "--pass-env", "LOOPBACK_*",
	}, args...)...)
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	e := &endpoint{cmd: cmd, out: bufio.NewReader(out), log: log, model: h.Name}
	if m := liveModel(h.Name); m != "" {
		e.model += "/" + m
	}
	line, err := e.out.ReadString('\n')
	require.NoError(t, err, "%s", log)
	text, err := os.ReadFile(token)
	require.NoError(t, err)
	e.baseURL, e.token = strings.TrimSpace(line), strings.TrimSpace(string(text))
	return e
}

// stop terminates the process and returns its log.
func (e *endpoint) stop(t *testing.T) (log string) {
	t.Helper()
	require.NoError(t, e.cmd.Process.Signal(syscall.SIGTERM))
	_, err := io.ReadAll(e.out)
	require.NoError(t, err)
	require.NoError(t, e.cmd.Wait(), "%s", e.log)
	return e.log.String()
}

// clientAnswer is the answer that a client received.
type clientAnswer struct {
	Text, Finish, Backend string
	Output                int64
	Error, Param          string
	Status                int
}

// openAIClient calls the endpoint. The argument what is complete, stream, json, response or tools. With any other value
// it starts a stream, and cancel ends it.
type openAIClient struct {
	name  string
	begin func(t *testing.T, e *endpoint, what string) (cancel func(), result func() clientAnswer)
}

// The unmodified official clients call the real CLIs through "clichain serve".
func TestServeOfficialClients(t *testing.T) {
	netns.Require(t)
	program := command(t)
	for _, client := range []openAIClient{{"go", goClient}, {"npm", npmClient}} {
		for _, name := range home.Names() {
			t.Run(client.name+" "+name, func(t *testing.T) {
				longUnless(t, isFirst(name))
				t.Parallel()
				client.meets(t, program, name)
			})
		}
	}
}

func (c openAIClient) meets(t *testing.T, program, name string) {
	var says atomic.Pointer[loopback.Reply]
	model := loopback.New(t, func(loopback.Request) loopback.Reply { return *says.Load() })
	h := home.New(t, name, model.URL, home.LoggedIn)
	e := serving(t, program, h)
	ask := func(what string, reply loopback.Reply) clientAnswer {
		says.Store(&reply)
		_, result := c.begin(t, e, what)
		return result()
	}
	for what, finish := range map[string]string{"complete": "stop", "stream": "stop", "response": "completed"} {
		got := ask(what, loopback.Text(hello))
		require.Empty(t, got.Error, "%s: %+v %s", what, got, e.log)
		require.Equal(t, hello, got.Text, what)
		require.Equal(t, finish, got.Finish, what)
		require.Equal(t, name, got.Backend, what)
		require.Positive(t, got.Output, what)
	}
	got := ask("json", structured(name, city))
	require.Empty(t, got.Error, "%+v %s", got, e.log)
	require.JSONEq(t, city, got.Text)
	got = ask("tools", loopback.Text("no"))
	require.Equal(t, 400, got.Status)
	require.Equal(t, "tools", got.Param)

	arrived := model.Arrived()
	hang := loopback.Hang()
	says.Store(&hang)
	cancel, result := c.begin(t, e, "cancel")
	select {
	case <-arrived:
	case <-time.After(5 * minute):
		t.Fatalf("%s never called its model: %s", name, e.log)
	}
	cancel()
	require.NotEmpty(t, result().Error)
	log := e.stop(t)
	require.Contains(t, log, "the client left")
	require.NotContains(t, log, e.token)
	require.NotContains(t, log, "say hi")
	require.Empty(t, living(t, h))
}

// goClient uses the client for Go.
func goClient(t *testing.T, e *endpoint, what string) (cancel func(), result func() clientAnswer) {
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan clientAnswer, 1)
	go func() { results <- askInGo(ctx, e, what) }()
	return cancel, func() clientAnswer { defer cancel(); return <-results }
}

func askInGo(ctx context.Context, e *endpoint, what string) (got clientAnswer) {
	client := openai.NewClient(option.WithBaseURL(e.baseURL), option.WithAPIKey(e.token), option.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{Model: e.model, Messages: []openai.ChatCompletionMessageParamUnion{
		openai.SystemMessage("Be brief."), openai.UserMessage("say hi"),
	}}
	var err error
	switch what {
	case "stream", "cancel":
		got, err = streamInGo(ctx, client, params)
	case "response":
		var resp *responses.Response
		resp, err = client.Responses.New(ctx, responses.ResponseNewParams{
			Model: e.model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("say hi")}, Instructions: openai.String("Be brief."),
		})
		if err == nil {
			got = clientAnswer{Text: resp.OutputText(), Finish: string(resp.Status), Output: resp.Usage.OutputTokens}
			var extra struct{ Clichain struct{ Backend string } }
			err = json.Unmarshal([]byte(resp.RawJSON()), &extra)
			got.Backend = extra.Clichain.Backend
		}
	default:
		if what == "json" {
			params.ResponseFormat.OfJSONSchema = &openai.ResponseFormatJSONSchemaParam{JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: "city", Description: openai.String("a city"), Schema: json.RawMessage(citySchema), Strict: openai.Bool(true),
			}}
		}
		if what == "tools" {
			params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "f"})}
		}
		got, err = completeInGo(ctx, client, params)
	}
	if failed, ok := errors.AsType[*openai.Error](err); ok {
		got.Status, got.Param = failed.StatusCode, failed.Param
	}
	if err != nil {
		got.Error = err.Error()
	}
	return got
}

func completeInGo(ctx context.Context, client openai.Client, params openai.ChatCompletionNewParams) (got clientAnswer, err error) {
	var raw *http.Response
	resp, err := client.Chat.Completions.New(ctx, params, option.WithResponseInto(&raw))
	if err != nil {
		return got, err
	}
	return clientAnswer{
		Text: resp.Choices[0].Message.Content, Finish: resp.Choices[0].FinishReason,
		Backend: raw.Header.Get("Clichain-Backend"), Output: resp.Usage.CompletionTokens,
	}, nil
}

func streamInGo(ctx context.Context, client openai.Client, params openai.ChatCompletionNewParams) (got clientAnswer, err error) {
	var raw *http.Response
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := client.Chat.Completions.NewStreaming(ctx, params, option.WithResponseInto(&raw))
	defer stream.Close()
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		all.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil {
		return got, err
	}
	return clientAnswer{
		Text: all.Choices[0].Message.Content, Finish: all.Choices[0].FinishReason,
		Backend: raw.Header.Get("Clichain-Backend"), Output: all.Usage.CompletionTokens,
	}, nil
}

// npmClient uses the client from npm, which reads its settings from the environment.
func npmClient(t *testing.T, e *endpoint, what string) (cancel func(), result func() clientAnswer) {
	modules, node := home.Library(t, "openai")
	cmd := exec.CommandContext(t.Context(), node, "openai.mjs", what, e.model, citySchema)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "CLIENT_MODULES=" + modules, "OPENAI_BASE_URL=" + e.baseURL, "OPENAI_API_KEY=" + e.token}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	cancel = func() {
		_, err := io.WriteString(in, "cancel\n")
		require.NoError(t, err)
	}
	return cancel, func() (got clientAnswer) {
		require.NoError(t, cmd.Wait(), "%s", &stderr)
		require.NoError(t, json.Unmarshal(out.Bytes(), &got), "%s%s", &out, &stderr)
		return got
	}
}
