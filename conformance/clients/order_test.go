package clients_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
)

// order is a task for a client. The programs of the clients map it to functions of the client.
type order struct {
	Function string          `json:"function"`
	Model    string          `json:"model"`
	System   string          `json:"system,omitempty"`
	Before   string          `json:"before,omitempty"` // an earlier prompt of the conversation
	Prompt   string          `json:"prompt"`
	Image    string          `json:"image,omitempty"` // a data: URL
	Settings settings        `json:"settings"`
	Schema   json.RawMessage `json:"schema,omitempty"`
	JSON     bool            `json:"json,omitempty"`
	Tools    bool            `json:"tools,omitempty"`
	Leave    bool            `json:"leave,omitempty"` // cancel the stream after its first piece
	APIKey   string          `json:"apiKey,omitempty"`
}

type settings struct {
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int64    `json:"maxTokens,omitempty"`
	Seed        int64    `json:"seed,omitempty"`
	Stop        string   `json:"stop,omitempty"`
	N           int64    `json:"n,omitempty"`
	Logprobs    bool     `json:"logprobs,omitempty"`
}

// outcome is what the functions of a client returned.
type outcome struct {
	None          bool // the client has no such function
	Text          string
	Object        json.RawMessage // as the client parsed it
	Pieces        int             // of a stream
	Finish        string
	Input, Output int64
	Headers       map[string]string
	Names         []string
	Left          bool // the client canceled the stream itself
	Error         *failure
}

// failure is what a program can read from an error of a client.
type failure struct {
	Class          string
	Status         int
	Message, Param string
	RetryAfter     string
}

// client is a client of OpenAI's API.
type client struct {
	name string
	// start returns the function that executes orders against an endpoint.
	start func(t *testing.T, e *endpoint) func(order) outcome
}

var clients = []client{
	{goOpenAI, startInGo},
	{npmOpenAI, inNode("openai", "openai.mjs")},
	{aiOpenAI, inNode("@ai-sdk/openai", "aisdk.mjs")},
	{aiCompatible, inNode("@ai-sdk/openai-compatible", "aisdk.mjs")},
	{langChain, inNode("@langchain/openai", "langchain.mjs")},
}

// The names of the clients.
const (
	goOpenAI     = "openai-go"
	npmOpenAI    = "openai"
	aiOpenAI     = "@ai-sdk/openai"
	aiCompatible = "@ai-sdk/openai-compatible"
	langChain    = "@langchain/openai"
)

// inNode returns the start of a client that a program runs in Node.js.
func inNode(pkg, program string) func(*testing.T, *endpoint) func(order) outcome {
	return func(t *testing.T, e *endpoint) func(order) outcome {
		modules, node := home.Library(t, pkg)
		cmd := exec.CommandContext(t.Context(), node, program, pkg)
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CLIENT_MODULES=" + modules,
			"OPENAI_BASE_URL=" + e.baseURL, "OPENAI_API_KEY=" + e.token,
		}
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = in.Close()
			_ = cmd.Wait()
		})
		orders, outcomes := json.NewEncoder(in), json.NewDecoder(out)
		return func(o order) (got outcome) {
			require.NoError(t, orders.Encode(o))
			require.NoError(t, outcomes.Decode(&got))
			return got
		}
	}
}
