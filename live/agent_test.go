package live_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The fake agent is this test binary, named after the dialect that it speaks. The texts that it receives
// control its behavior. For its start and its end, the environment variable AGENT_MANNERS does.
var dialects = []string{"control", "threads", "acp"}

// playAgent makes this process a fake agent if it was started as one.
func playAgent() {
	dialect, ok := strings.CutPrefix(filepath.Base(os.Args[0]), "agent-")
	if !ok {
		return
	}
	if !slices.Contains(os.Args, "--live") {
		playCold(dialect)
	}
	a := &agent{dialect: dialect, manners: os.Getenv("AGENT_MANNERS"), interrupted: make(chan struct{}, 1), answers: make(chan object, 8)}
	a.live()
	exit(0)
}

type object = map[string]any

type agent struct {
	dialect, manners string
	interrupted      chan struct{}
	answers          chan object // to the agent's own requests

	mu      sync.Mutex // of the output
	thread  int
	now     string // the id of the turn
	model   string
	kept    []byte
	said    []string // in this context
	asked   int      // number of the agent's own requests
	late    belated
	mended  string
	past    bool // lines of an earlier turn are still to be printed
	turning sync.WaitGroup
}

func (a *agent) has(manner string) bool { return strings.Contains(a.manners, manner) }

// live reads messages until the input ends.
func (a *agent) live() {
	a.startUp()
	if a.has("deaf") {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
	}
	if a.has("dies at start") {
		fmt.Fprintln(os.Stderr, "Error: not logged in, run the login")
		exit(7)
	}
	if a.has("early") {
		a.delta("nobody asked")
		a.end("early", false, "")
		if a.has("dies later") {
			return
		}
	}
	if resumed() {
		a.said = []string{"earlier in " + sessionID()}
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var m object
		if json.Unmarshal(in.Bytes(), &m) == nil && !a.has("silent") {
			a.read(m)
		}
	}
	a.endOfInput()
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

// read processes a message in any dialect.
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
		if a.has("refuses") && !(a.has("refuses new") && resumed()) {
			a.fail(id, "Invalid API key: please run the login")
			return
		}
		a.reply(id, object{"version": 1})
		if a.has("leaves") && a.dialect == "control" {
			exit(7)
		}
	case "thread/start", "session/new":
		a.between("clear")
		a.nextThread()
		a.said = nil
		a.reply(id, object{"thread": object{"id": a.id()}, "sessionId": a.id()})
		a.between("cleared")
		if a.has("leaves") {
			exit(7)
		}
	case "thread/resume":
		a.resume(id, text(m, "params", "thread"))
	case "sync":
		a.turning.Wait()
		a.last(a.late.at)
		a.reply(id, object{})
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
		if a.has("goes on") {
			a.fail(id, "no")
			return
		}
		if note := os.Getenv("AGENT_NOTE"); note != "" {
			_ = os.WriteFile(note, nil, 0o600)
		}
		a.interrupted <- struct{}{}
		a.reply(id, object{})
	case "usage":
		a.usage(id)
	case "":
		if id != nil { // a response
			a.answers <- m
		}
	}
}

func (a *agent) id() string { return fmt.Sprintf("thread-%d", a.thread) }

// notice prints an event of a turn.
func (a *agent) notice(kind string, fields object) {
	o := object{"type": kind, "thread": a.id(), "turn": a.now}
	if a.has("nameless") {
		delete(o, "thread")
	}
	for name, value := range fields {
		o[name] = value
	}
	if a.dialect != "control" {
		o = object{"method": kind, "params": o}
	}
	a.send(o)
}

func (a *agent) delta(text string) { a.notice("delta", object{"text": text}) }

// end ends a turn as the dialect does.
func (a *agent) end(id any, failed bool, message string) {
	if a.dialect == "acp" {
		stop := "end_turn"
		if failed {
			stop = "cancelled"
		}
		a.reply(id, object{"stopReason": stop, "message": message})
		return
	}
	a.notice("done", object{"failed": failed, "message": message, "tokens": 3, "cost": 0.5 * float64(len(a.said)), "session": sessionID()})
}

// turn plays one turn. It runs beside the reader, which receives interrupts.
func (a *agent) turn(id any, said string) {
	if a.dialect == "control" && said == "/clear" {
		a.between("clear")
		a.said = nil
		a.nextThread()
		a.end(nil, false, "")
		a.between("cleared")
		return
	}
	a.rejectResumed()
	a.turning.Wait() // an earlier turn may still print
	if strings.HasPrefix(said, "pause ") {
		defer time.Sleep(4 * time.Second) // it does not read for a while
	}
	a.tellOfThePast()
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
	what, rest, _ := strings.Cut(lastTurn(withoutSchema(said)), " ")
	if what == "Your" && a.mended == "hang" {
		what = a.mended
	}
	a.last("asked")
	if a.late.at == "answering" {
		a.delta("")
		a.last("answering")
	}
	switch what {
	case "belated":
		rest = a.belate(id, rest)
	case "mend", "act", "Your":
		rest = a.mend(what, rest)
	case "die":
		a.delta("half an ")
		fmt.Fprintln(os.Stderr, "Error: 429 rate limited")
		exit(3)
	case "crash":
		exit(3)
	case "goodbye":
		a.delta(rest)
		a.end(id, false, "")
		exit(7)
	case "cut":
		a.print(`{"type":"delta","text":"half`)
		exit(0)
	case "deaf":
		a.delta("still ")
		return
	case "hang":
		a.delta("half")
		<-a.interrupted
		a.end(id, true, cmp.Or(rest, "interrupted"))
		return
	case "permit-and-die":
		a.request("permit")
		exit(3)
	case "halfway":
		a.delta("half a ")
		exit(0)
	case "fail":
		a.end(id, true, rest)
		return
	case "take":
		rest = pass(rest)
	case "spend":
		a.delta("half a ")
		pass(rest)
		exit(0)
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
