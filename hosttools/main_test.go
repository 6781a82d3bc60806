package hosttools_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/hosttools"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == playCLI:
		os.Exit(play(os.Args[2]))
	case len(os.Args) == 4 && os.Args[1] == playCLI && os.Args[3] == playLive:
		os.Exit(playTurns(os.Args[2]))
	case len(os.Args) == 3 && os.Args[1] == playChild:
		time.Sleep(time.Hour)
	case os.Getenv(hostMode) != "":
		os.Exit(playHost(os.Getenv(hostMode)))
	}
	os.Exit(clitest.Run(m))
}

// playCLI is the argument that makes the test binary a CLI whose model calls the functions that its prompt lists.
const playCLI = "play-cli"

// playLive follows playCLI and the address in the live mode, in which the prompt of each turn is a script.
const playLive = "play-live"

// playChild is the argument of a child of the CLI, with the address as the next one.
const playChild = "play-child"

// script is the prompt of the player.
type script struct {
	Child    bool // start a process that outlives the CLI
	Calls    []toolCall
	Parallel bool
	Fail     string // the last line on stderr, with the exit code 1
	Answer   string // the text of the answer instead of the lines of the results
}

type toolCall struct {
	Name  string
	Input any // ownPID: the process of the player
}

// ownPID is an input that the player replaces.
const ownPID = "own PID"

type process struct {
	PID int
	URL string // of the server
}

// player returns a backend that runs scripts.
func player(t *testing.T, name string, cfg clichain.Config) *clichain.Provider {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return clichain.NewProvider(playerSpec(name, self), &cfg)
}

// playerSpec is the spec of a player. binary is this test binary.
func playerSpec(name, binary string) clispec.Spec {
	withTools := clispec.When{Set: []string{"host_url"}}
	return clispec.Spec{
		Name: name, Binary: binary, Transports: []clispec.Transport{clispec.TransportStdin},
		Args: []clispec.ArgRow{
			{Args: []string{playCLI, "{host_url}"}, When: withTools},
			{Args: []string{playLive}, When: clispec.When{Output: []clispec.OutputMode{clispec.OutputLive}}},
			{Args: []string{"--write"}, When: clispec.When{Set: []string{"schema"}, Access: []call.Access{call.AccessWrite}}},
		},
		Files: []clispec.FileRow{{Field: "token", Name: "token", Content: "{host_token}", When: withTools}},
		Env:   []clispec.EnvRow{{Name: "HOST_TOKEN", Value: "{host_token}"}},
		Lines: []clispec.LineRule{{Pattern: "BROKEN", Reason: call.ReasonServerError}},
		Live: clispec.LiveRules{
			Envelope: clispec.EnvelopeJSONRPC, Ready: []clispec.LiveMessage{{Method: "ready"}},
			Open: []clispec.LiveMessage{{Method: "open"}}, Context: "id", Barrier: []clispec.LiveMessage{{Method: "ready"}},
			Turn:      []clispec.LiveMessage{{Method: "ask", Params: `{"text":{prompt:json}}`, Ends: true}},
			Interrupt: []clispec.LiveMessage{{Method: "stop", Notice: true}},
			Events: []clispec.EventRule{
				{Match: map[string]string{"method": "ask"}, Kind: call.EventText, Set: map[string]string{"text": "result.text"}},
				{Match: map[string]string{"method": "ask"}, Kind: call.EventResult, Terminal: true},
			},
		},
	}
}

func ask(t *testing.T, s script) clichain.Request {
	t.Helper()
	text, err := json.Marshal(s)
	require.NoError(t, err)
	return clichain.Prompt(string(text))
}

// one is the request for a single call.
func one(t *testing.T, name string, input any) clichain.Request {
	t.Helper()
	return ask(t, script{Calls: []toolCall{{name, input}}})
}

// play prints a line for each result.
func play(url string) int {
	var s script
	if err := json.NewDecoder(os.Stdin).Decode(&s); err != nil {
		return 2
	}
	answer, err := s.run(url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	fmt.Println(answer)
	if s.Fail != "" {
		fmt.Fprintln(os.Stderr, s.Fail, os.Getenv("HOST_TOKEN"))
		return 1
	}
	return 0
}

// run calls the functions, and returns the answer.
func (s script) run(url string) (string, error) {
	if s.Child {
		if err := exec.Command(os.Args[0], playChild, url).Start(); err != nil {
			return "", err
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "player", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: withToken(os.Getenv("HOST_TOKEN"))},
		DisableStandaloneSSE: true, MaxRetries: -1,
	}, nil)
	if err != nil {
		return "", err
	}
	lines := make([]string, len(s.Calls))
	var running sync.WaitGroup
	for i, c := range s.Calls {
		if c.Input == ownPID {
			c.Input = process{os.Getpid(), url}
		}
		running.Go(func() {
			lines[i] = resultLine(session.CallTool(context.Background(), &mcp.CallToolParams{Name: c.Name, Arguments: c.Input}))
		})
		if !s.Parallel {
			running.Wait()
		}
	}
	running.Wait()
	return cmp.Or(s.Answer, strings.Join(lines, "\n")), nil
}

// playTurns answers each turn with the lines of a script, and exits after a script that fails. Between two turns it calls
// a function once more, and adds the result to the answer of the next turn.
func playTurns(url string) int {
	out := json.NewEncoder(os.Stdout)
	between, contexts := "", 0
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m struct {
			ID     any
			Method string
			Params struct{ Text string }
		}
		if json.Unmarshal(in.Bytes(), &m) != nil {
			return 2
		}
		result := map[string]any{}
		switch m.Method {
		case "open":
			if contexts++; contexts > 1 {
				between, _ = script{Calls: []toolCall{{"add", sum{1, 1}}}}.run(url)
			}
			result["id"] = fmt.Sprint("context", contexts)
		case "ask":
			var s script
			if json.NewDecoder(strings.NewReader(m.Params.Text)).Decode(&s) != nil { // other text can follow
				return 2
			}
			answer, err := s.run(url)
			if err != nil || s.Fail != "" {
				fmt.Fprintln(os.Stderr, s.Fail, err)
				return 1
			}
			result["text"] = strings.TrimSpace(between + "\n" + answer)
		}
		if m.ID != nil {
			_ = out.Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
		}
	}
	return 0
}

func resultLine(r *mcp.CallToolResult, err error) string {
	switch {
	case err != nil:
		return "refused: " + err.Error()
	case r.IsError:
		return "error: " + r.Content[0].(*mcp.TextContent).Text
	}
	return "ok: " + r.Content[0].(*mcp.TextContent).Text
}

type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// spy sees the server that the provider starts.
type spy struct {
	*clichain.Provider
	offer *call.HostTools
}

func (s *spy) Unwrap() clichain.Backend { return s.Provider }

func (s *spy) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	tools := *call.HostToolsOf(ctx)
	serve := tools.Serve
	tools.Serve = func() (*call.HostServer, error) {
		server, err := serve()
		if err == nil {
			s.offer = server.Tools
		}
		return server, err
	}
	return s.Provider.Complete(call.WithHostTools(ctx, &tools), req)
}

type sum struct {
	A int `json:"a"`
	B int `json:"b" jsonschema:"the second summand"`
}

func add() hosttools.Tool {
	return hosttools.Func("add", "Adds two numbers.", func(_ context.Context, in sum) (int, error) { return in.A + in.B, nil })
}
