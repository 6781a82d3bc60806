package clitest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/cassette"
)

// Player is a backend that replays the calls that [Record] has written. Make it with [Replay]. It is safe for
// concurrent use.
type Player struct {
	// RealTime delivers each event at its recorded time after the start of the call. Otherwise all events come at once.
	// Set it before the first call.
	RealTime bool

	dir  string
	load func() ([]cassette.File, error)

	mu    sync.Mutex
	asked map[cassette.Key]int // calls of each request
}

// Replay returns a backend that answers with the recordings in dir. It needs no CLI. Its name is that of the recorded
// backend, or "replay" if the recordings have several names.
//
// If a request was recorded several times, the calls are replayed in the order of their ends, and the last one again
// and again. A request without a recording fails with a [*MissError]. If a file cannot be read, every call fails with
// bad_option and the name of the file.
//
// Replay reads the files once, before the first call. Times in the recordings, such as the end of a limit, are those of
// the recorded call. Two requests are equal if they differ only in Dir, Env, Billing and Metadata, in the directories
// above AddDirs and Images, or in the form of JSON values.
func Replay(dir string) *Player {
	return &Player{
		dir: dir, asked: map[cassette.Key]int{},
		load: sync.OnceValues(func() ([]cassette.File, error) { return cassette.Load(dir) }),
	}
}

// MissError is the error for a request without a recording. It wraps a [*clichain.BackendError] with the reason
// bad_option, so that a chain does not ask its next backend.
type MissError struct {
	// Nearest is the file whose request is the most similar one.
	Nearest string
	// Diff has the lines in which the requests differ. Those of Nearest begin with "-", those of the request with "+".
	Diff string

	err *call.Error
}

// Error returns several lines: the nearest recording, the difference, and what to do.
func (e *MissError) Error() string {
	return fmt.Sprintf("%v\n--- %s\n+++ this request\n%s", e.err, e.Nearest, e.Diff)
}

// Unwrap returns the error with the reason.
func (e *MissError) Unwrap() error { return e.err }

// Name returns the name of the recorded backend.
func (p *Player) Name() string {
	files, _ := p.load()
	name := ""
	for _, f := range files {
		for _, c := range f.Calls {
			if name != "" && name != c.Backend {
				return "replay"
			}
			name = c.Backend
		}
	}
	if name == "" {
		return "replay"
	}
	return name
}

// Complete replays the answer or the failure.
func (p *Player) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(p.Stream(ctx, req))
}

// Stream replays the events of the call.
func (p *Player) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		began := time.Now()
		c, err := p.next(req)
		if err == nil {
			err = p.wait(ctx, began, 0)
		}
		if err != nil {
			yield(clichain.Event{}, err)
			return
		}
		for _, e := range c.Replay() {
			if err := p.wait(ctx, began, time.Duration(e.AtMS)*time.Millisecond); err != nil {
				yield(clichain.Event{}, err)
				return
			}
			if !yield(e.Event(), nil) {
				return
			}
		}
		if c.Failure != nil {
			yield(clichain.Event{}, c.Failure.Err())
			return
		}
		resp := c.Response.Response()
		resp.Metadata = req.Metadata
		yield(clichain.Event{Kind: clichain.EventDone, Backend: resp.Backend, Response: resp}, nil)
	})
}

// wait returns at the time of an event, or with an error when the context ends.
func (p *Player) wait(ctx context.Context, began time.Time, at time.Duration) error {
	if p.RealTime {
		timer := time.NewTimer(at - time.Since(began))
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
	if ctx.Err() == nil {
		return nil
	}
	reason := clichain.ReasonCanceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = clichain.ReasonTimeout
	}
	return &call.Error{Backend: p.Name(), Reason: reason, ExitCode: -1, Err: ctx.Err()}
}

// next returns the next call of a request. The caller may modify it.
func (p *Player) next(req clichain.Request) (*cassette.Call, error) {
	asked, err := cassette.Canonical(req)
	if err != nil {
		return nil, err
	}
	files, err := p.load()
	if err != nil {
		return nil, unusable(p.dir, err)
	}
	key := asked.Key()
	for _, f := range files {
		if f.Key != key {
			continue
		}
		fresh, err := cassette.Decode(f.Data)
		if err != nil {
			return nil, unusable(f.Path, err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		i := min(p.asked[key], len(fresh.Calls)-1)
		p.asked[key]++
		return &fresh.Calls[i], nil
	}
	return nil, miss(p.dir, files, asked)
}

// recordHint says how to get a recording.
const recordHint = "record the call with clitest.Record"

func unusable(dir string, err error) error {
	wrong := call.Errorf(clichain.ReasonBadOption, "", "clitest: no recordings: %v", err)
	if wrong.Err = err; errors.Is(err, fs.ErrNotExist) {
		wrong.Message = "clitest: there is no directory " + dir
	}
	wrong.Hint = recordHint
	return wrong
}

func miss(dir string, files []cassette.File, asked cassette.Request) error {
	nearest := cassette.Nearest(files, asked)
	old, now := cassette.FirstChange(nearest.Request, asked)
	wrong := call.Errorf(clichain.ReasonBadOption, "", "clitest: %s has no recording of this request; nearest: -%s +%s",
		dir, old, now)
	wrong.Hint = recordHint
	return &MissError{nearest.Path, cassette.Diff(nearest.Request, asked), wrong}
}

// Unused returns the files in the directory that no call has replayed yet, for a check at the end of all tests.
func (p *Player) Unused() (paths []string, err error) {
	files, err := p.load()
	if err != nil {
		return nil, unusable(p.dir, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range files {
		if p.asked[f.Key] == 0 {
			paths = append(paths, f.Path)
		}
	}
	return paths, nil
}
