package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// progressPause is the shortest time between two notifications.
	progressPause = time.Second
	// progressAlive is the longest time between two notifications. Clients cancel a call without
	// progress after a longer time.
	progressAlive = 10 * time.Second
)

// progress notifies the client about a call. A nil progress does nothing.
type progress struct {
	notify  func(n int, message string)
	over    chan struct{}
	stopped sync.WaitGroup

	mu      sync.Mutex
	message string
}

// newProgress begins to notify the client, if it asked for notifications.
func newProgress(ctx context.Context, req *mcp.CallToolRequest) *progress {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return nil
	}
	p := &progress{over: make(chan struct{}), message: "looking for an agent", notify: func(n int, message string) {
		// A client that has closed the connection ends the call by its context.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(n), Message: message,
		})
	}}
	p.stopped.Go(p.run)
	return p
}

func (p *progress) run() {
	tick := time.NewTicker(progressPause)
	defer tick.Stop()
	sent, at := "", time.Time{}
	for n := 1; ; {
		p.mu.Lock()
		message := p.message
		p.mu.Unlock()
		if message != sent || time.Since(at) >= progressAlive {
			p.notify(n, message)
			sent, at = message, time.Now()
			n++
		}
		select {
		case <-p.over:
			return
		case <-tick.C:
		}
	}
}

// end stops the notifications, before the result of the call is sent.
func (p *progress) end() {
	if p == nil {
		return
	}
	close(p.over)
	p.stopped.Wait()
}

func (p *progress) hooks() *clichain.Hooks {
	if p == nil {
		return nil
	}
	return &clichain.Hooks{Event: func(_ context.Context, e clichain.Event) {
		if text := activity(e); text != "" {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.message = e.Backend + ": " + text
		}
	}}
}

// activity describes an event, or returns "". It has no text of a model and no input of a tool.
func activity(e clichain.Event) string {
	switch e.Kind {
	case clichain.EventStart:
		return "starting"
	case clichain.EventSession:
		return "waiting for the model"
	case clichain.EventThinking:
		return "thinking"
	case clichain.EventDelta, clichain.EventText:
		return "answering"
	case clichain.EventToolUse:
		return "using " + e.Name
	case clichain.EventRetry:
		return "retrying"
	case clichain.EventAttempt:
		return string(e.Attempt.Reason)
	}
	return ""
}
