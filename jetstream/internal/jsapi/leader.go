package jsapi

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
	// leaderLimit bounds the wait for servers that start or elect a leader.
	leaderLimit = 30 * time.Second
	// firstAttempt bounds the first attempt. Each further attempt has twice as long. No server answers a request that
	// it received before the cluster had a leader.
	firstAttempt = 2 * time.Second
)

// WaitForLeader calls do, and repeats it for up to 30 s while the cluster has no leader.
func WaitForLeader(ctx context.Context, nc *nats.Conn, do func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, leaderLimit)
	defer cancel()
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(100*time.Millisecond),
		backoff.WithMaxInterval(2*time.Second), backoff.WithMaxElapsedTime(0))
	began, timeout := time.Now(), firstAttempt
	err := backoff.Retry(func() error {
		attempt, done := context.WithTimeout(limited, timeout)
		defer done()
		timeout *= 2
		err := do(attempt)
		if err == nil || leaderless(nc, err) {
			return err
		}
		return backoff.Permanent(err)
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

// leaderless reports whether the request may succeed once the servers have elected a leader.
func leaderless(nc *nats.Conn, err error) bool {
	if api, ok := errors.AsType[*js.APIError](err); ok {
		return api.ErrorCode == errCodeNotAvailable || api.ErrorCode == errCodeNotLeader
	}
	if errors.Is(err, nats.ErrNoResponders) { // a single server without JetStream never has a leader
		return nc.ConnectedClusterName() != ""
	}
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded)
}
