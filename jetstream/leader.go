package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

const (
	// leaderLimit bounds how long Open and OpenCooldowns wait for servers that start or
	// choose a leader.
	leaderLimit = 30 * time.Second
	// firstAttempt bounds the first attempt; each further one has twice as long. A request
	// that comes before there is a leader is never answered.
	firstAttempt = 2 * time.Second
)

// The error codes of a cluster that has no leader now.
const (
	errCodeNotAvailable js.ErrorCode = 10008
	errCodeNotLeader    js.ErrorCode = 10009
)

// onceLed does what needs a leader, again and again until there is one.
func onceLed(ctx context.Context, nc *nats.Conn, do func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, leaderLimit)
	defer cancel()
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(100*time.Millisecond),
		backoff.WithMaxInterval(2*time.Second), backoff.WithMaxElapsedTime(0))
	began, patience := time.Now(), firstAttempt
	err := backoff.Retry(func() error {
		attempt, done := context.WithTimeout(limited, patience)
		defer done()
		patience *= 2
		err := do(attempt)
		if leaderless(nc, err) {
			return err
		}
		return permanent(err)
	}, backoff.WithContext(pause, limited))
	if err == nil || !leaderless(nc, err) && limited.Err() == nil {
		return explained(err)
	}
	waited := time.Since(began).Round(time.Second)
	cause := cmp.Or(context.Cause(ctx), context.Cause(limited), context.DeadlineExceeded)
	if nc.ConnectedClusterName() == "" {
		return fmt.Errorf("the server did not answer JetStream requests for %v: is it starting, or too busy? (%w)",
			waited, cause)
	}
	return fmt.Errorf("the cluster has had no JetStream leader for %v: more than half of its servers must run with "+
		"JetStream and reach each other (%w)", waited, cause)
}

// leaderless reports whether servers that choose a leader may do it later.
func leaderless(nc *nats.Conn, err error) bool {
	if api, ok := errors.AsType[*js.APIError](err); ok {
		return api.ErrorCode == errCodeNotAvailable || api.ErrorCode == errCodeNotLeader
	}
	if errors.Is(err, nats.ErrNoResponders) { // a server alone without JetStream never gets it
		return nc.ConnectedClusterName() != ""
	}
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded)
}
