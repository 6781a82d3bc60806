package openai

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/clichain/clichain/openai/internal/apierror"
)

const (
	maxWaiting = 64          // requests
	maxWait    = time.Minute // of one request
)

// limiter limits the requests in the handler, and the requests that it answers at the same time.
type limiter struct {
	admitted, running chan struct{}
	advice            string
}

func newLimiter(c *Config) *limiter {
	return &limiter{
		make(chan struct{}, c.Concurrency+maxWaiting), make(chan struct{}, c.Concurrency),
		"ask again later, or raise " + c.fieldName("Concurrency"),
	}
}

// admit lets a request in, unless too many wait.
func (l *limiter) admit() (release func(), err *apierror.Error) {
	select {
	case l.admitted <- struct{}{}:
		return func() { <-l.admitted }, nil
	default:
		return nil, l.busy("%d requests wait already", maxWaiting)
	}
}

// acquire waits for a free slot.
func (l *limiter) acquire(ctx context.Context) (release func(), err *apierror.Error) {
	limit := time.NewTimer(maxWait)
	defer limit.Stop()
	select {
	case l.running <- struct{}{}:
		return func() { <-l.running }, nil
	case <-limit.C:
		return nil, l.busy("%d requests were in flight for %v", cap(l.running), maxWait)
	case <-ctx.Done():
		return nil, shutdownError(ctx)
	}
}

func (l *limiter) busy(format string, args ...any) *apierror.Error {
	err := apierror.New(http.StatusTooManyRequests, apierror.TypeRateLimit, "rate_limit_exceeded",
		"%s: %s", fmt.Sprintf(format, args...), l.advice)
	err.RetryAfter = time.Now().Add(time.Second)
	return err
}
