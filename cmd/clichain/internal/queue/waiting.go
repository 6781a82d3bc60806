package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/jetstream"
)

const (
	// firstReport is how long a job is waited for in silence, and noteEvery the pause between two looks at what it
	// waits for. Workers announce themselves every 2 s.
	firstReport = 3 * time.Second
	reportEvery = 5 * time.Second
)

// reportWaiting prints on stderr what a job waits for until a worker runs it or stop is called.
func reportWaiting(ctx context.Context, env *console.Env, q *jetstream.Queue, id string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		reported := ""
		for pause := firstReport; ; pause = reportEvery {
			timer := time.NewTimer(pause)
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
			w, err := q.Waiting(ctx, id)
			if err != nil || w.Why == "" || w.Why == reported {
				continue
			}
			reported = w.Why
			fmt.Fprintf(env.Err, "clichain: job %q waits%s: %s\n", id, untilWords(w.Until), terminal.OneLine(w.Why))
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// untilWords returns " until" and the local time, or "" if the time is unknown.
func untilWords(until time.Time) string {
	if until.IsZero() {
		return ""
	}
	return " until " + until.Local().Format("2006-01-02 15:04:05")
}
