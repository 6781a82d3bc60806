package jetstream

import (
	"context"
	"fmt"
	"time"

	"github.com/clichain/clichain/jetstream/internal/store"
)

// Units of the sums of an owner: millionths of a US dollar, and input and output tokens.
const (
	unitCost   = "microusd"
	unitTokens = "tokens"
)

// dayOf returns the day in UTC.
func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// nextDay returns the beginning of the next day in UTC.
func nextDay(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }

// usedOn returns what an owner has used on the day of a time.
func usedOn(ctx context.Context, s store.Owners, owner string, at time.Time) (u OwnerUse, err error) {
	cost, err := s.Sum(ctx, owner, dayOf(at), unitCost)
	if err != nil {
		return u, err
	}
	u.CostUSD = float64(cost) / 1e6
	u.Tokens, err = s.Sum(ctx, owner, dayOf(at), unitTokens)
	return u, err
}

// exceeded returns until when the jobs of an owner wait, and why; zero if its day is not used up.
func (l OwnerLimits) exceeded(owner string, used OwnerUse, now time.Time) (until time.Time, why string) {
	switch {
	case l.CostUSD > 0 && microUSD(used.CostUSD) >= microUSD(l.CostUSD):
		why = fmt.Sprintf("$%.2f of $%.2f", used.CostUSD, l.CostUSD)
	case l.Tokens > 0 && used.Tokens >= l.Tokens:
		why = fmt.Sprintf("%d of %d tokens", used.Tokens, l.Tokens)
	default:
		return time.Time{}, ""
	}
	until = nextDay(now)
	return until, fmt.Sprintf("%s has used %s today: its jobs wait until %s",
		ownerText(owner), why, until.Format(time.RFC3339))
}

// full says that an owner runs as many jobs as it may.
func (l OwnerLimits) full(owner string, running int) string {
	return fmt.Sprintf("%s runs %d jobs, and may run %d", ownerText(owner), running, l.Running)
}

// addLimits adds the limits of the owners, and what they have used today.
func (s *Status) addLimits(ctx context.Context, q *Queue) error {
	all, err := q.Limits(ctx)
	if err != nil {
		return err
	}
	for owner := range all.Owners {
		s.owner(owner)
	}
	for i := range s.Owners {
		o, now := &s.Owners[i], time.Now()
		if o.Owner == AnyOwner {
			continue
		}
		if o.Limits = all.Of(o.Owner); !o.Limits.daily() {
			continue
		}
		if o.Today, err = usedOn(ctx, q.owners, o.Owner, now); err != nil {
			return err
		}
		o.Until, _ = o.Limits.exceeded(o.Owner, o.Today, now)
	}
	return nil
}

// ownerWaiting returns what the jobs of an owner wait for because of its limits; nil if nothing.
func ownerWaiting(ctx context.Context, q *Queue, owner string) (*Waiting, error) {
	all, err := q.limits.get(ctx, q.Limits)
	if err != nil {
		return nil, err
	}
	l, now := all.Of(owner), time.Now()
	if l.daily() {
		used, err := usedOn(ctx, q.owners, owner, now)
		if err != nil {
			return nil, err
		}
		if until, why := l.exceeded(owner, used, now); why != "" {
			return &Waiting{Until: until, Why: why}, nil
		}
	}
	if l.Running > 0 {
		n, err := q.owners.CountSlots(ctx, owner)
		if err != nil {
			return nil, err
		}
		if n >= l.Running {
			return &Waiting{Why: l.full(owner, n)}, nil
		}
	}
	return nil, nil
}
