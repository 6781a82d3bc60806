package jsapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// WithReplicas calls create with the wanted number of replicas. Zero means 3, or 1 if the cluster has fewer servers.
func WithReplicas(wanted int, nc *nats.Conn, create func(replicas int) error) (err error) {
	try := []int{3, 1}
	switch {
	case wanted > 0:
		try = []int{wanted}
	case nc.ConnectedClusterName() == "": // such a server accepts any number
		try = []int{1}
	}
	for _, n := range try {
		if err = create(n); !tooFewServers(err) {
			break
		}
	}
	return err
}

// OpenOrCreate opens a stream or bucket, and creates it if it does not exist. Several clients may call it at the same
// time.
func OpenOrCreate[T any](ctx context.Context, open, create func() (T, error)) (v T, err error) {
	err = RetryWhileMeasured(ctx, func() error {
		v, err = open()
		if err == nil || !IsAny(err, js.ErrStreamNotFound, js.ErrBucketNotFound) {
			return err
		}
		v, err = create()
		if err != nil && IsAny(err, js.ErrStreamNameAlreadyInUse, js.ErrBucketExists) {
			v, err = open()
		}
		return err
	})
	return v, err
}

const (
	// fullLimit bounds the retries while the store is full.
	fullLimit = 10 * time.Second
	// busyLimit bounds all retries. It is longer than a client that was killed can block the measurement.
	busyLimit = 30 * time.Second
)

// RetryWhileMeasured calls do, and repeats it while another client may be measuring the store. It repeats do for up to
// 10 s if the store is full, and for up to 30 s if a stream of this name exists. The measurement reserves space for a
// moment: until then the server refuses other streams as if its store were full.
func RetryWhileMeasured(ctx context.Context, do func() error) error {
	began := time.Now()
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(10*time.Millisecond),
		backoff.WithMaxInterval(200*time.Millisecond), backoff.WithMaxElapsedTime(busyLimit))
	return backoff.Retry(func() error {
		err := do()
		if err == nil || isBusy(err) || IsFull(err) && time.Since(began) < fullLimit {
			return err
		}
		return backoff.Permanent(err)
	}, backoff.WithContext(pause, ctx))
}

// Last returns the last message on a subject; nil if there is none.
func Last(ctx context.Context, s js.Stream, subject string) (*js.RawStreamMsg, error) {
	msg, err := s.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, js.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	return msg, nil
}

// Remove removes one message from a stream. A message that does not exist is no error.
func Remove(ctx context.Context, s js.Stream, sequence uint64) error {
	err := s.DeleteMsg(ctx, sequence)
	if errors.Is(err, js.ErrMsgDeleteUnsuccessful) { // the server does not say why
		if _, err := s.GetMsg(ctx, sequence); errors.Is(err, js.ErrMsgNotFound) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	return nil
}
