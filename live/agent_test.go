package live_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
)

// The fake agent is this test binary, under the name of the dialect that it speaks. What it does is in the texts that it
// is sent and, for its start and its end, in the variable AGENT_MANNERS.
var dialects = []string{"control", "threads", "acp"}

// playAgent makes this process a fake agent if it was started as one.
func playAgent() {
	dialect, ok := strings.CutPrefix(filepath.Base(os.Args[0]), "agent-")
	if !ok {
		return
	}
	if !slices.Contains(os.Args, "--live") {
		prompt, _ := io.ReadAll(os.Stdin)
		if !strings.Contains(os.Getenv("AGENT_MANNERS"), "cold") {
			os.Exit(9)
		}
		a := &agent{dialect: dialect}
		a.delta("cold: " + string(prompt))
		a.notice("done", object{"failed": false, "tokens": 3})
		os.Exit(0)
	}
	a := &agent{dialect: dialect, manners: os.Getenv("AGENT_MANNERS"), interrupted: make(chan struct{}, 1), answers: make(chan object, 8)}
	a.live()
	os.Exit(0)
}

type object = map[string]any

type agent struct {
	dialect, manners string
	interrupted      chan struct{}
	answers          chan object // to its own requests

	mu      sync.Mutex // of the output
	thread  int
	now     string // the id of the turn
	model   string
	kept    []byte
	said    []string // in this thread
	asked   int      // requests of its own
	turning sync.WaitGroup
}

func (a *agent) has(manner string) bool { return strings.Contains(a.manners, manner) }

// live reads messages until the input ends.
func (a *agent) live() {
	if a.has("deaf") {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
	}
	if a.has("dies at start") {
		fmt.Fprintln(os.Stderr, "Error: not logged in, run the login")
		os.Exit(7)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var m object
		if json.Unmarshal(in.Bytes(), &m) == nil && !a.has("silent") {
			a.read(m)
		}
	}
	if a.has("deaf") {
		time.Sleep(time.Hour)
	}
}

func (a *agent) print(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Println(line)
}

func (a *agent) send(o object) {
	line, _ := json.Marshal(o)
	a.print(string(line))
}

// read takes a message in any of the dialects.
func (a *agent) read(m object) {
	id, method := m["id"], text(m, "method")
	if a.dialect == "control" {
		id, method = m["request_id"], text(m, "request", "subtype")
		switch text(m, "type") {
		case "user":
			a.turn(nil, text(m, "message", "content"))
			return
		case "control_response":
			a.answers <- dig(m, "response")
			return
		}
	}
	switch method {
	case "initialize":
		if a.has("refuses") {
			a.fail(id, "Invalid API key: please run the login")
			return
		}
		a.reply(id, object{"version": 1})
	case "thread/start", "session/new":
		a.thread++
		a.said = nil
		a.reply(id, object{"thread": object{"id": a.id()}, "sessionId": a.id()})
	case "turn/start", "session/prompt":
		if !strings.HasSuffix(text(m, "params", "thread"), a.id()) {
			a.fail(id, "no such thread")
			return
		}
		a.turn(id, text(m, "params", "text"))
	case "choose":
		a.model = text(m, "params", "model")
		a.reply(id, object{})
	case "interrupt":
		a.interrupted <- struct{}{}
		a.reply(id, object{})
	case "":
		if id != nil { // a response
			a.answers <- m
		}
	}
}

func (a *agent) turnID(request any) string { return fmt.Sprint("turn-", request) }

func (a *agent) id() string { return fmt.Sprintf("thread-%d", a.thread) }

func text(m object, path ...string) string {
	s, _ := dig(m, path[:len(path)-1]...)[path[len(path)-1]].(string)
	return s
}

func dig(m object, path ...string) object {
	for _, name := range path {
		m, _ = m[name].(object)
	}
	return m
}

func (a *agent) reply(id any, result object) {
	if a.dialect == "control" {
		a.send(object{"type": "control_response", "response": object{"subtype": "success", "request_id": id, "response": result}})
		return
	}
	a.send(object{"id": id, "result": result})
}

func (a *agent) fail(id any, message string) {
	if a.dialect == "control" {
		a.send(object{"type": "control_response", "response": object{"subtype": "error", "request_id": id, "error": message}})
		return
	}
	a.send(object{"id": id, "error": object{"code": -32000, "message": message}})
}

// notice is something that happens in a turn.
func (a *agent) notice(kind string, fields object) {
	o := object{"type": kind, "thread": a.id(), "turn": a.now}
	for name, value := range fields {
		o[name] = value
	}
	if a.dialect != "control" {
		o = object{"method": kind, "params": o}
	}
	a.send(o)
}

func (a *agent) delta(text string) { a.notice("delta", object{"text": text}) }

// end ends a turn, in the way of the dialect.
func (a *agent) end(id any, failed bool, message string) {
	if a.dialect == "acp" {
		stop := "end_turn"
		if failed {
			stop = "cancelled"
		}
		a.reply(id, object{"stopReason": stop, "message": message})
		return
	}
	a.notice("done", object{"failed": failed, "message": message, "tokens": 3, "cost": 0.5 * float64(len(a.said))})
}

// turn plays one turn. It goes on beside the reader, which hears of an interrupt.
func (a *agent) turn(id any, said string) {
	if a.dialect == "control" && said == "/clear" {
		a.said = nil
		a.end(nil, false, "")
		return
	}
	a.said, a.now = append(a.said, said), a.turnID(id)
	late := strings.Contains(said, "late")
	if a.dialect == "threads" && !late {
		a.reply(id, object{"turn": object{"id": a.turnID(id)}})
	}
	a.turning.Go(func() {
		a.play(id, said)
		if a.dialect == "threads" && late {
			a.reply(id, object{"turn": object{"id": a.turnID(id)}})
		}
	})
}

func (a *agent) play(id any, said string) {
	what, rest, _ := strings.Cut(said, " ")
	switch what {
	case "die":
		a.delta("half an ")
		fmt.Fprintln(os.Stderr, "Error: 429 rate limited")
		os.Exit(3)
	case "cut":
		a.print(`{"type":"delta","text":"half`)
		os.Exit(0)
	case "deaf":
		a.delta("still ")
		return
	case "hang":
		a.delta("half")
		<-a.interrupted
		a.end(id, true, "interrupted")
		return
	case "halfway":
		a.delta("half a ")
		os.Exit(0)
	case "fail":
		a.end(id, true, rest)
		return
	case "garbage":
		a.print("Welcome!\n{\"type\":\"del\n\x00\x01\n[1,2]\n{\"type\":\"unheard of\"}")
	case "flood":
		a.print(strings.Repeat(`{"type":"unheard of","text":"`+strings.Repeat("x", 990)+"\"}\n", 5000))
	case "twice":
		defer a.end(id, false, "")
	case "model":
		rest = "model " + a.model
	case "grow":
		a.kept = bytes.Repeat([]byte("x"), 200<<20)
	case "recall":
		rest = strings.Join(a.said, "|")
	case "ask":
		rest = a.question(rest)
	}
	a.delta(rest)
	a.end(id, false, "")
}

// question asks the host for a permission, or something that it cannot know.
func (a *agent) question(method string) string {
	a.asked++
	params := object{"tool": "shell", "input": object{"command": "ls"}, "options": []any{
		object{"id": "yes", "kind": "allow-once"}, object{"id": "never", "kind": "reject_always"}, object{"id": "no", "kind": "reject_once"},
	}}
	if a.dialect == "control" {
		params["subtype"] = method
		a.send(object{"type": "control_request", "request_id": fmt.Sprint("q", a.asked), "request": params})
	} else {
		a.send(object{"id": fmt.Sprint("q", a.asked), "method": method, "params": params})
	}
	answer := <-a.answers
	for _, name := range []string{"error", "response", "result"} {
		if value, ok := answer[name]; ok {
			line, _ := json.Marshal(value)
			return name + " " + string(line)
		}
	}
	return "nothing"
}

// agentSpec is the spec of a dialect.
func agentSpec(dialect string) clichain.CliSpec {
	method, params := "method", "params."
	if dialect == "control" {
		method, params = "type", ""
	}
	rule := func(name string, kind clichain.EventKind, set ...string) clispec.EventRule {
		r := clispec.EventRule{Match: map[string]string{method: name}, Kind: kind, Set: map[string]string{}}
		for i := 0; i < len(set); i += 2 {
			r.Set[set[i]] = set[i+1]
		}
		return r
	}
	done := rule("done", clichain.EventResult, "failed", params+"failed", "message", params+"message", "input_tokens", params+"tokens", "cost_usd", params+"cost")
	done.Terminal = true
	ask := clispec.AskRule{
		Method: "permit", Tool: "tool", Input: "input", Options: "options", OptionID: "id", OptionKind: "kind",
		Allow: `{"chosen":{option:json},"input":{input}}`, AllowKind: "allow[-_]once",
		Deny: `{"chosen":{option:json}}`, DenyKind: "reject[-_]once", Otherwise: `{"chosen":null}`,
	}
	spec := clichain.CliSpec{
		Name: "lumen", Binary: "lumen", PassEnv: []string{"AGENT_*"}, Outputs: []clispec.OutputMode{clispec.OutputStream, clispec.OutputText},
		Transports: []clispec.Transport{clispec.TransportStdin},
		Args: []clispec.ArgRow{
			{Args: []string{"--live"}, When: clispec.When{Output: []clispec.OutputMode{clispec.OutputLive}}},
			{Args: []string{"--model", "{model}"}, When: clispec.When{Set: []string{"model"}}},
			{Args: []string{"--write"}, When: clispec.When{Access: []clichain.Access{clichain.AccessWrite, clichain.AccessRead, clichain.AccessFull}}},
		},
		Events: []clispec.EventRule{rule("delta", clichain.EventDelta, "text", params+"text"), done},
		Login:  clispec.LoginRules{Ways: []clispec.LoginWay{{Files: []clispec.FileFact{{Path: "${AGENT_LOGIN}"}}, Unsure: true}, {Unsure: true}}},
		Lines:  []clispec.LineRule{{Pattern: `(?i)not logged in|invalid api key`, Reason: clichain.ReasonUnauthenticated}},
	}
	live := &spec.Live
	live.Ready = []clispec.LiveMessage{{Method: "initialize"}}
	live.Interrupt = []clispec.LiveMessage{{Method: "interrupt"}}
	live.Asks = []clispec.AskRule{ask}
	switch dialect {
	case "control":
		live.Envelope = clispec.EnvelopeControl
		live.Turn = []clispec.LiveMessage{{Method: "user", Notice: true, Params: `{"message":{"content":{prompt:json}}}`}}
		live.Clear = []clispec.LiveMessage{{Method: "user", Notice: true, Params: `{"message":{"content":"/clear"}}`}}
	case "threads":
		live.Envelope, live.Context, live.TurnID, live.Of = clispec.EnvelopeJSONRPC, "thread.id", "turn.id", "params.thread"
		live.OfTurn = "params.turn"
		live.Open = []clispec.LiveMessage{{Method: "thread/start"}}
		live.Turn = []clispec.LiveMessage{{Method: "turn/start", Params: `{"thread":{context:json},"text":{prompt:json}}`}}
	case "acp":
		live.Envelope, live.Context, live.Of = clispec.EnvelopeJSONRPC, "sessionId", "params.thread"
		live.Open = []clispec.LiveMessage{{Method: "session/new", Params: `{"cwd":{dir:json}}`}}
		live.Turn = []clispec.LiveMessage{{Method: "session/prompt", Ends: true, Params: `{"thread":{context:json},"text":{prompt:json}}`}}
		ended := clispec.EventRule{Match: map[string]string{"method": "session/prompt", "result.stopReason": "end_turn"}, Kind: clichain.EventResult, Terminal: true, Set: map[string]string{"input_tokens": "=3"}}
		failed := clispec.EventRule{Match: map[string]string{"method": "session/prompt", "result.stopReason": "cancelled"}, Kind: clichain.EventError, Terminal: true, Set: map[string]string{"message": "result.message"}}
		refused := clispec.EventRule{Match: map[string]string{"method": "session/prompt", "error.message": ".+"}, Kind: clichain.EventError, Terminal: true, Set: map[string]string{"message": "error.message"}}
		live.Events = append(spec.Events[:1:1], ended, failed, refused)
	}
	return spec
}

// agentOf is a backend whose CLI is the fake agent of a dialect.
func agentOf(t *testing.T, dialect, manners string, cfg clichain.Config) *clichain.Provider {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cfg.Binary = filepath.Join(t.TempDir(), "agent-"+dialect)
	require.NoError(t, os.Symlink(exe, cfg.Binary))
	cfg.Env = append(cfg.Env, "AGENT_MANNERS="+manners)
	spec := agentSpec(dialect)
	require.NoError(t, spec.Validate())
	return clichain.NewProvider(spec, &cfg)
}
