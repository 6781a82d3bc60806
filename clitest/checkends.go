package clitest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// cancel finds processes that remain after a call that is canceled while its CLI works.
func (s *subject) cancel(t TB) []problem {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := filepath.Join(t.TempDir(), "started")
	over := make(chan struct{})
	defer close(over)
	go func() {
		if exists(started, over) {
			cancel()
		}
	}()
	return s.ended(t, ctx, within, started, call.ReasonCanceled)
}

// timeout finds processes that remain after a call that times out.
func (s *subject) timeout(t TB) []problem {
	started := filepath.Join(t.TempDir(), "started")
	return s.ended(t, context.Background(), 500*time.Millisecond, started, call.ReasonTimeout)
}

// exists waits for a file, and reports whether it appeared before end was closed.
func exists(file string, end <-chan struct{}) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return false
		case <-tick.C:
			if _, err := os.Stat(file); err == nil {
				return true
			}
		}
	}
}

// ended calls a CLI that hangs and that has started a detached process, and finds the processes that remain. The CLI
// writes the file when it has started its work.
func (s *subject) ended(
	t TB, ctx context.Context, timeout time.Duration, started string, want clichain.Reason,
) (found []problem) {
	t.Helper()
	steps := []Step{{Spawn: stubborn()}, {Record: started}, {Hang: true}}
	cfg := config(Fake(t, filepath.Base(s.spec.Binary), Scenario{Steps: steps}))
	cfg.Timeout = timeout
	_, err := s.complete(clichain.NewProvider(s.spec, &cfg), ctx, clichain.Prompt(plainPrompt))
	if left := Survivors(cfg.Binary); len(left) > 0 {
		found = append(found, problemf("binary", "%d processes remain after a call that should fail as %s: %v",
			len(left), want, left))
	}
	if be, ok := errors.AsType[*clichain.BackendError](err); !ok || be.Reason != want {
		found = append(found, problemf("lines", "an interrupted call should fail as %s, but it returned: %v", want, err))
	}
	return found
}
