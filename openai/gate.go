package openai

import (
	"context"
	"net/http"
	"time"
)

// gate bounds how many requests are in here, and how many of them are answered at once.
type gate struct {
	inside, running chan struct{}
}

func newGate(jobs int) *gate {
	return &gate{make(chan struct{}, jobs+maxWaiting), make(chan struct{}, jobs)}
}

// enter lets a request in, unless too many wait.
func (g *gate) enter() (leave func(), err *apiError) {
	select {
	case g.inside <- struct{}{}:
		return func() { <-g.inside }, nil
	default:
		return nil, busy("%d requests wait already", maxWaiting)
	}
}

// begin waits for the turn of a request.
func (g *gate) begin(ctx context.Context) (end func(), err *apiError) {
	limit := time.NewTimer(maxWait)
	defer limit.Stop()
	select {
	case g.running <- struct{}{}:
		return func() { <-g.running }, nil
	case <-limit.C:
		return nil, busy("%d answers were under way for %v", cap(g.running), maxWait)
	case <-ctx.Done():
		return nil, ended(ctx)
	}
}

func busy(format string, args ...any) *apiError {
	err := fault(http.StatusTooManyRequests, typeRateLimit, "rate_limit_exceeded",
		format+": ask again later, or give serve more --jobs", args...)
	err.retryAfter = time.Now().Add(time.Second)
	return err
}
