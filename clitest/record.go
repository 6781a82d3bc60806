package clitest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/cassette"
)

// Record returns a backend that passes calls to another one, and writes each answer and each failure to a file in dir,
// for [Replay]. It creates the directory if it is missing. There is one file for each request, which the first call of
// the request replaces. Record does not write canceled calls, calls that exceed the deadline of their context, calls
// that asked no backend because all were skipped, and streams that the reader leaves early.
//
// A call fails with bad_option if it has functions of the program, if its recording exceeds 16 MiB, or if its request,
// an event or its result contains a secret. The error names the place of the secret. Secrets are values of secret
// environment variables of this process, and texts that look like keys.
//
// The backend is safe for concurrent use if the other one is.
func Record(dir string, backend clichain.Backend) clichain.Backend {
	return &recordingBackend{dir: dir, inner: backend, calls: map[cassette.Key][]cassette.Call{}}
}

type recordingBackend struct {
	dir   string
	inner clichain.Backend

	mu    sync.Mutex
	calls map[cassette.Key][]cassette.Call // the recorded calls of each request
}

func (r *recordingBackend) Name() string { return r.inner.Name() }

func (r *recordingBackend) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	asked, err := recordable(ctx, req)
	if err != nil {
		return nil, err
	}
	// A chain may repeat a call that failed after some text, but not a stream.
	resp, err := r.inner.Complete(ctx, req)
	switch {
	case err != nil:
		return nil, r.failed(ctx, asked, cassette.Call{}, err)
	case resp == nil:
		return nil, nil
	}
	if err := r.add(asked, cassette.Call{Response: cassette.ResponseOf(*resp)}); err != nil {
		return nil, err
	}
	return resp, nil
}

func (r *recordingBackend) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		asked, err := recordable(ctx, req)
		if err != nil {
			yield(clichain.Event{}, err)
			return
		}
		c, began := cassette.Call{}, time.Now()
		for e, err := range r.inner.Stream(ctx, req) {
			switch {
			case err != nil:
				yield(clichain.Event{}, r.failed(ctx, asked, c, err))
				return
			case e.Kind == clichain.EventDone && e.Response != nil:
				c.Response = cassette.ResponseOf(*e.Response)
				if err := r.add(asked, c); err != nil {
					yield(clichain.Event{}, err)
					return
				}
				yield(e, nil)
				return
			}
			c.Add(time.Since(began), e)
			if !yield(e, nil) {
				return
			}
		}
	})
}

// failed records a call that failed, unless its caller ended it or no backend was asked. It returns the error for the
// caller.
func (r *recordingBackend) failed(ctx context.Context, asked cassette.Request, c cassette.Call, err error) error {
	if ctx.Err() != nil || errors.Is(err, clichain.ErrCanceled) || skipped(err) {
		return err
	}
	c.Failure = cassette.FailureOf(r.Name(), err)
	if wrong := r.add(asked, c); wrong != nil {
		return wrong
	}
	return err
}

// skipped reports whether no backend was asked, as on a machine without a CLI.
func skipped(err error) bool {
	if chain := call.AsChainError(err); chain != nil {
		return !chain.Tried()
	}
	be, ok := errors.AsType[*clichain.BackendError](err)
	return ok && be.Stage == call.StageSkipped
}

// recordable returns the canonical form of a request, or an error if it cannot be recorded.
func recordable(ctx context.Context, req clichain.Request) (asked cassette.Request, err error) {
	if call.HostToolsOf(ctx) != nil {
		return asked, call.Errorf(clichain.ReasonBadOption, "", "a call with functions of the program cannot be recorded")
	}
	if asked, err = cassette.Canonical(req); err == nil {
		if err = cassette.Secrets("request", asked); err != nil {
			err = notRecorded(err)
		}
	}
	return asked, err
}

// add writes the file of a request with one more call.
func (r *recordingBackend) add(asked cassette.Request, c cassette.Call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Backend = r.Name()
	key := asked.Key()
	calls := append(slices.Clip(r.calls[key]), c)
	file := &cassette.Cassette{Request: asked, Calls: calls}
	data, err := cassette.Encode(file)
	if err == nil {
		err = cassette.Secrets("call", &c)
	}
	if err == nil {
		err = os.MkdirAll(r.dir, 0o755)
	}
	if err == nil {
		err = cassette.Write(filepath.Join(r.dir, asked.FileName()), data, 0o644)
	}
	if err != nil {
		return notRecorded(err)
	}
	r.calls[key] = calls
	return nil
}

func notRecorded(err error) error {
	wrong := call.Errorf(clichain.ReasonBadOption, "", "clitest: the call was not recorded: %v", err)
	wrong.Err = err
	if found, ok := errors.AsType[*cassette.SecretError](err); ok {
		wrong.Hint = fmt.Sprintf("remove the secret from %s, or unset the variable that has it", found.Field)
	}
	return wrong
}
