package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	js "github.com/nats-io/nats.go/jetstream"
)

// sweepAge is the minimum age of what Sweep removes as unused, because a payload is stored before its message.
const sweepAge = time.Hour

// Cleaner removes results and unused data of a queue.
type Cleaner struct{ *Store }

// Sweep removes unused data: payloads without a message, for example after the server has removed a result, and
// marks of jobs that do not exist any more.
func (s Cleaner) Sweep(ctx context.Context, now time.Time) error {
	err := s.sweepPayloads(ctx, now)
	if err == nil {
		err = s.sweepMarks(ctx, now)
	}
	if err != nil {
		return fmt.Errorf("jetstream: sweep: %w", err)
	}
	return nil
}

func (s Cleaner) sweepPayloads(ctx context.Context, now time.Time) error {
	objects, err := s.objects.List(ctx)
	if errors.Is(err, js.ErrNoObjectsFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, object := range objects {
		if now.Sub(object.ModTime) < sweepAge {
			continue
		}
		used, err := s.isUsed(ctx, object.Name)
		if err == nil && !used {
			err = s.objects.Delete(ctx, object.Name)
		}
		if err != nil && !errors.Is(err, js.ErrObjectNotFound) {
			return err
		}
	}
	return nil
}

// isUsed reports whether a message names the payload.
func (s Cleaner) isUsed(ctx context.Context, payload string) (bool, error) {
	key, _, _ := strings.Cut(payload, ".")
	for stream, subject := range map[js.Stream]string{s.Jobs: s.anyJob(key), s.Results: s.AnyResult(key)} {
		msg, err := jsapi.Last(ctx, stream, subject)
		if err != nil {
			return false, err
		}
		if msg != nil && msg.Header.Get(payloadHeader) == payload {
			return true, nil
		}
	}
	return false, nil
}

// sweepMarks removes the marks of jobs that were dropped while their worker was lost.
func (s Cleaner) sweepMarks(ctx context.Context, now time.Time) error {
	for sequence := uint64(1); ; {
		mark, err := s.State.GetMsg(ctx, sequence, js.WithGetMsgSubject(s.mark("*")))
		if errors.Is(err, js.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		sequence = mark.Sequence + 1
		if now.Sub(mark.Time) < sweepAge {
			continue
		}
		used, err := s.isMarkUsed(ctx, mark)
		if err == nil && !used {
			err = s.Unmark(ctx, keyIn(mark.Subject))
		}
		if err != nil {
			return err
		}
	}
}

// isMarkUsed reports whether the job of a mark exists, or its worker may still run it.
func (s Cleaner) isMarkUsed(ctx context.Context, msg *js.RawStreamMsg) (bool, error) {
	job, err := s.LastJob(ctx, keyIn(msg.Subject))
	if err != nil || job != nil {
		return true, err
	}
	var mark Mark
	if json.Unmarshal(msg.Data, &mark) != nil {
		return false, nil
	}
	_, err = s.Workers.Get(ctx, Key(mark.Worker))
	if errors.Is(err, js.ErrKeyNotFound) {
		return false, nil
	}
	return true, err
}
