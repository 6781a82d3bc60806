package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/store"
)

// Pause keeps the workers of a queue from taking jobs. It is a plain value.
type Pause struct {
	// Owner is the owner whose jobs wait. Empty: all jobs wait.
	Owner string `json:"owner,omitempty"`
	// Since is the time at which the pause began. Operator.Pause sets it.
	Since time.Time `json:"since"`
	// Until is the end of the pause, by the clock of each worker. Zero: it lasts until Resume.
	Until time.Time `json:"until,omitzero"`
}

// pauseAge is how long a worker relies on the pauses that it has read.
const pauseAge = time.Second

// Pause makes workers take no more jobs, or none of one owner, within about a second. Jobs that run continue. The queue
// stores the pause, so it also applies to workers that start later. It replaces an earlier pause of the same owner. The
// pause of an owner does not apply to jobs that share a consumer with other owners; see [AnyOwner].
func (o *Operator) Pause(ctx context.Context, p Pause) error {
	if err := (&Selection{Owner: p.Owner}).Check(); err != nil {
		return err
	}
	if p.Since = time.Now().UTC(); !p.Until.IsZero() && !p.Until.After(p.Since) {
		return invalid(clichain.ReasonBadOption, "until", "the end of a pause must be in the future")
	}
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	return (store.Pauses{Store: o.q.store}).Set(ctx, p.Owner, data)
}

// Resume ends the pause of an owner's jobs, or of all jobs if owner is empty. It returns nil if there is none.
func (o *Operator) Resume(ctx context.Context, owner string) error {
	if err := (&Selection{Owner: owner}).Check(); err != nil {
		return err
	}
	return (store.Pauses{Store: o.q.store}).Remove(ctx, owner)
}

// Pauses returns the current pauses, sorted by owner. The pause of all jobs is the first.
func (o *Operator) Pauses(ctx context.Context) ([]Pause, error) {
	pauses, _, err := o.pauses(ctx)
	return pauses, err
}

// pauses returns the current pauses, sorted by owner, and the number of stored pauses.
func (o *Operator) pauses(ctx context.Context) (list []Pause, stored int, err error) {
	byOwner, records := map[string]Pause{}, store.Pauses{Store: o.q.store}
	for msg, err := range records.All(ctx) {
		if err != nil {
			return nil, 0, fmt.Errorf("jetstream: pauses: %w", err)
		}
		stored++
		var p Pause
		_ = json.Unmarshal(msg.Data, &p) // an unreadable pause has no end
		p.Owner = records.Owner(msg.Subject)
		byOwner[p.Owner] = p
	}
	now := time.Now()
	maps.DeleteFunc(byOwner, func(_ string, p Pause) bool { return !p.Until.IsZero() && !p.Until.After(now) })
	return slices.SortedFunc(maps.Values(byOwner), func(a, b Pause) int { return strings.Compare(a.Owner, b.Owner) }),
		stored, nil
}

// pauseView is what a worker knows about the pauses.
type pauseView struct {
	o        *Operator
	onChange func(*Pause) // of the pause of all jobs

	read time.Time
	list []Pause
	last Pause // the pause of all jobs that onChange got; zero: none
}

// refresh reads the pauses, unless it has read them lately.
func (v *pauseView) refresh(ctx context.Context) error {
	if time.Since(v.read) < pauseAge {
		return nil
	}
	now := time.Now()
	list, _, err := v.o.pauses(ctx)
	if err != nil {
		return err
	}
	v.read, v.list = now, list
	all, last := v.of(""), v.last
	v.last = Pause{}
	if all != nil {
		v.last = *all
	}
	if !v.last.Since.Equal(last.Since) || !v.last.Until.Equal(last.Until) {
		v.onChange(all)
	}
	return nil
}

// of returns the pause of an owner; nil if there is none.
func (v *pauseView) of(owner string) *Pause {
	for _, p := range v.list {
		if p.Owner == owner {
			return &p
		}
	}
	return nil
}

// has reports whether the jobs of a consumer wait for the end of a pause.
func (v *pauseView) has(c *classes.Consumer) bool {
	return v.of("") != nil || c.Owner != "" && v.of(c.Owner) != nil
}

const (
	// drainEvery is the pause between two looks at the workers.
	drainEvery = 200 * time.Millisecond
	// drainSettle is longer than a worker needs to see a pause, and then to report the jobs that it took before.
	drainSettle = pauseAge + 2*heartbeat
)

// Drain pauses the queue, and waits until no connected worker runs a job. It takes at least five seconds. It calls
// report with the number of running jobs whenever that changes; report may be nil. If ctx ends first, Drain returns its
// cause, and the queue stays paused. Resume ends the pause.
func (o *Operator) Drain(ctx context.Context, report func(running int)) error {
	if err := o.Pause(ctx, Pause{}); err != nil {
		return err
	}
	paused, last := time.Now(), -1
	for {
		running, err := o.running(ctx)
		if err != nil {
			return err
		}
		if running != last && report != nil {
			report(running)
		}
		last = running
		if running == 0 && time.Since(paused) > drainSettle {
			return nil
		}
		timer := time.NewTimer(drainEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("jetstream: drain: %d jobs still run: %w", running, context.Cause(ctx))
		}
	}
}

// running counts the jobs that the connected workers run.
func (o *Operator) running(ctx context.Context) (n int, err error) {
	workers, err := o.q.workers(ctx)
	for _, w := range workers {
		if w.Alive {
			n += w.Running
		}
	}
	return n, err
}
