// Package service has what the commands that answer the requests of others share: permissions, limits and logs.
package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
)

const (
	// DefaultSlots is how many requests a service answers at once.
	DefaultSlots = 4
	// DefaultGrace is how long requests in flight may continue after a signal.
	DefaultGrace = 30 * time.Second
	// MaxHeader is the most bytes of the header of an HTTP request.
	MaxHeader = 8 << 10
)

// UnlessStopped is nil for an error that the end of ctx caused: to be stopped is how a service ends.
func UnlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	return err
}

// NewLog makes the log of a service, on stderr.
func NewLog(env *console.Env, asJSON bool) *slog.Logger {
	if asJSON {
		return slog.New(slog.NewJSONHandler(env.Err, nil))
	}
	return slog.New(slog.NewTextHandler(env.Err, nil))
}

// ParseGrace parses a duration of zero or more.
func ParseGrace(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, errors.New("write a time with its unit, such as 30s, or 0 to give jobs back at once")
	}
	return d, nil
}
