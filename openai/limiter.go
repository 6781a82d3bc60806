package openai

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/clichain/clichain/openai/internal/apierror"
)

const maxWait = time.Minute // of one request

// limiter limits the requests in the handler, and the requests that it answers at the same time.
type limiter struct {
	admitted, running chan struct{}
	config            *Config
}

func newLimiter(c *Config) *limiter {
	return &limiter{make(chan struct{}, c.Concurrency+c.MaxWaiting), make(chan struct{}, c.Concurrency), c}
}

// admit lets a request in, unless too many wait.
func (l *limiter) admit() (release func(), err *apierror.Error) {
	select {
	case l.admitted <- struct{}{}:
		return func() { <-l.admitted }, nil
	default:
		return nil, l.busy("MaxWaiting", "%d requests wait already", l.config.MaxWaiting)
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
		return nil, l.busy("Concurrency", "%d requests were in flight for %v", cap(l.running), maxWait)
	case <-ctx.Done():
		return nil, shutdownError(ctx)
	}
}

// busy returns the error of a server at its limit. Its status differs from 429, which the limits of vendors have.
func (l *limiter) busy(setting, format string, args ...any) *apierror.Error {
	err := apierror.New(http.StatusServiceUnavailable, apierror.TypeServer, "server_busy",
		"%s: ask again later, or raise %s", fmt.Sprintf(format, args...), l.config.fieldName(setting))
	err.RetryAfter = time.Now().Add(time.Second)
	return err
}
