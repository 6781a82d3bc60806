package conversation_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/session"
)

// fake is a backend whose sessions hold the texts that it got, as a CLI does.
type fake struct {
	name string
	// next returns the error of the next call, nil for an answer. held tells whether the session holds the text of a
	// failed call.
	next func(req clichain.Request) (err *call.Error, held bool)

	mu       sync.Mutex
	sessions map[string][]string // the texts by handle
	requests []clichain.Request
	calls    int
}

func newFake(name string, outcomes ...outcome) *fake {
	f := &fake{name: name, sessions: map[string][]string{}}
	f.next = func(clichain.Request) (*call.Error, bool) {
		if len(outcomes) == 0 {
			return nil, true
		}
		o := outcomes[0]
		outcomes = outcomes[1:]
		return o.err, o.held
	}
	return f
}

// outcome is the result of one call.
type outcome struct {
	err  *call.Error
	held bool
}

var (
	ok      = outcome{nil, true}
	limited = outcome{&call.Error{Reason: clichain.ReasonRateLimited, Stage: call.StageStarted}, true}
	skipped = outcome{&call.Error{Reason: clichain.ReasonUnauthenticated, Stage: call.StageSkipped}, false}
	crashed = outcome{&call.Error{Reason: clichain.ReasonExit, Stage: call.StageStarted}, false}
	lost    = outcome{&call.Error{Reason: clichain.ReasonBadSession, Stage: call.StageStarted}, false}
	long    = outcome{&call.Error{Reason: clichain.ReasonContextOverflow, Stage: call.StageStarted}, true}
	acted   = outcome{&call.Error{Reason: clichain.ReasonRateLimited, Stage: call.StageStarted, SideEffects: true}, true}
)

func (f *fake) backend() clichain.Backend { return clichain.BackendFunc(f.name, f.answer) }

func (f *fake) answer(_ context.Context, req clichain.Request) (*clichain.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, req)
	f.calls++
	failed, held := f.next(req)
	if failed != nil && !held {
		return nil, new(*failed)
	}
	req = session.Resume(f.name, req)
	handle := req.Session
	if handle == "" {
		handle = session.Handle{Backend: f.name, ID: fmt.Sprintf("s%d", len(f.sessions)+1)}.String()
	} else if _, known := f.sessions[handle]; !known {
		return nil, &call.Error{Reason: clichain.ReasonBadSession, Stage: call.StageStarted}
	}
	f.sessions[handle] = append(f.sessions[handle], textOf(req))
	if failed != nil {
		err := *failed
		err.Session = handle
		return nil, &err
	}
	return &clichain.Response{Text: fmt.Sprintf("%s answers %d", f.name, f.calls), Session: handle}, nil
}

// textOf returns the messages of a request, one on each line.
func textOf(req clichain.Request) string {
	var lines []string
	for _, m := range req.Messages {
		lines = append(lines, fmt.Sprintf("%s: %s", m.Role, m.Content))
	}
	return strings.Join(lines, "\n")
}

// last returns the latest text in the only session.
func (f *fake) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, texts := range f.sessions {
		return texts[len(texts)-1]
	}
	return ""
}

// chain returns a chain without cooldowns.
func chain(fakes ...*fake) *clichain.Chain {
	backends := make([]clichain.Backend, len(fakes))
	for i, f := range fakes {
		backends[i] = f.backend()
	}
	return clichain.ChainOf(backends, &clichain.ChainConfig{NoCooldown: true})
}
