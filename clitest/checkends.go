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

// cancel finds what a call leaves that is canceled while its CLI is at work.
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

// timeout finds what a call leaves that runs out of time.
func (s *subject) timeout(t TB) []problem {
	started := filepath.Join(t.TempDir(), "started")
	return s.ended(t, context.Background(), 500*time.Millisecond, started, call.ReasonTimeout)
}

// exists waits for a file, and reports whether it came before the end.
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

// ended makes a call of a CLI that hangs, with a process that has got away from it, and finds what is left of them. The
// CLI writes the file when it is at work.
func (s *subject) ended(
	t TB, ctx context.Context, timeout time.Duration, started string, want clichain.Reason,
) (found []problem) {
	t.Helper()
	steps := []Step{{Spawn: stubborn()}, {Record: started}, {Hang: true}}
	cfg := config(Fake(t, filepath.Base(s.spec.Binary), Scenario{Steps: steps}))
	cfg.Timeout = timeout
	_, err := s.complete(clichain.NewProvider(s.spec, &cfg), ctx, clichain.Prompt(plainPrompt))
	if left := Survivors(cfg.Binary); len(left) > 0 {
		found = append(found, problemf("binary", "%d processes are left after a call that was to end as %s: %v",
			len(left), want, left))
	}
	if be, ok := errors.AsType[*clichain.BackendError](err); !ok || be.Reason != want {
		found = append(found, problemf("lines", "a call that was ended was to fail as %s, and came to: %v", want, err))
	}
	return found
}
