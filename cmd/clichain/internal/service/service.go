// Package service has the permissions, limits, flags and logs that batch, serve and worker share.
package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
)

const (
	// DefaultSlots is the default concurrency limit.
	DefaultSlots = 4
	// DefaultGrace is how long requests in flight may continue after a signal.
	DefaultGrace = 30 * time.Second
	// MaxHeader limits the bytes of an HTTP request header.
	MaxHeader = 8 << 10
)

// UnlessStopped returns err, or nil if the end of ctx caused it, because a signal is the normal end of a service.
func UnlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	return err
}

// NewLog makes a log on stderr.
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
		return 0, errors.New("write a duration with its unit, such as 30s, or 0")
	}
	return d, nil
}
