package jetstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// hopeless are the reasons which lie in the request: no later run has another.
var hopeless = []clichain.Reason{
	clichain.ReasonBadRequest, clichain.ReasonBadOption, clichain.ReasonBadSession,
}

// elsewhere are the reasons which lie in the machine: another worker may do better.
var elsewhere = []clichain.Reason{
	clichain.ReasonSuppressed, clichain.ReasonNotInstalled, clichain.ReasonUnauthenticated, clichain.ReasonNestedSession,
	clichain.ReasonKilled, clichain.ReasonSpawn,
}

// limits are the reasons for which a backend says when it is available again.
var limits = []clichain.Reason{
	clichain.ReasonRateLimited, clichain.ReasonUsageLimit, clichain.ReasonCoolingDown,
}

// maxHistory bounds what a job carries along.
const maxHistory = 100

// failures counts the deliveries that were no wait for a limit's end, and no worker's
// own end.
func failures(history []Delivery) (n int) {
	for _, d := range history {
		if d.Reason != clichain.ReasonCanceled && (!slices.Contains(limits, d.Reason) || d.Until.IsZero()) {
			n++
		}
	}
	return n
}

// failureOf is what a result says of the error of a call.
func failureOf(err error) *Failure {
	chain, ok := errors.AsType[*clichain.ChainError](err)
	if !ok {
		return &Failure{Reason: clichain.ReasonExit, Message: err.Error()}
	}
	f := &Failure{
		Reason: chain.Reason(), Attempts: chain.Attempts, Message: strings.TrimPrefix(chain.Error(), "clichain: "),
	}
	for _, a := range chain.Attempts {
		if be, ok := errors.AsType[*clichain.BackendError](a.Err); ok && be.SideEffects {
			f.SideEffects = true
		}
	}
	return f
}

// follow decides what follows a failure: nil and an addition to its message where
// the job has failed for good, else how it goes back to the queue. spare says whether
// another worker may meet a deadline that a limit keeps this one from.
func follow(
	d *delivery, f *Failure, err error, ended bool, now time.Time, spare func() bool,
) (again *Delivery, addition string) {
	chain, _ := errors.AsType[*clichain.ChainError](err)
	if chain == nil || f.SideEffects && d.mayAct() {
		return nil, ""
	}
	again = &Delivery{Reason: f.Reason, Message: firstLine(f.Message), Usage: chain.Usage()}
	switch limit := limitOf(chain); {
	case ended:
		again.Reason, again.Message = clichain.ReasonCanceled, "the worker ended while the job ran"
		return again, ""
	case slices.Contains(hopeless, f.Reason):
		return nil, ""
	case limit != "":
		again.Reason, again.Until = limit, chain.RetryAfter()
	case !passes(chain):
		return nil, ""
	default:
		again.Until = now.Add(pause(failures(d.History)))
	}
	if !d.Deadline.IsZero() && again.Until.After(d.Deadline) &&
		(!slices.Contains(limits, again.Reason) || !spare()) {
		return nil, " (its deadline is before " + again.Until.Format(time.RFC3339) + ", when it could run again)"
	}
	return again, ""
}

// limitOf is the reason of a limit whose end is known; empty where there is none.
func limitOf(chain *clichain.ChainError) clichain.Reason {
	if chain.RetryAfter().IsZero() {
		return ""
	}
	for _, a := range chain.Attempts {
		if slices.Contains(limits, a.Reason) {
			return a.Reason
		}
	}
	return ""
}

// passes reports whether a backend that was tried may answer the same request later, or
// elsewhere; where none was, whether any may. One that was passed over for good, such
// as one that is not installed, says nothing about the failure of another.
func passes(chain *clichain.ChainError) bool {
	return slices.ContainsFunc(chain.Attempts, func(a clichain.Attempt) bool {
		return a.Skipped != chain.Tried() && (a.Reason.Temporary() || slices.Contains(elsewhere, a.Reason))
	})
}

// pause is how long a job waits after so many failures: 2 s, doubled up to 2 min,
// and up to a fifth more, so that jobs which failed together do not come together.
func pause(failures int) time.Duration {
	wait := min(2*time.Second<<min(failures, 10), 2*time.Minute)
	return wait + rand.N(wait/5)
}

// firstDetail is what the first of the backends said.
func firstDetail(chain *clichain.ChainError) string {
	if err := chain.Attempts[0].Err; err != nil {
		return firstLine(err.Error())
	}
	return string(chain.Attempts[0].Reason)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// postpone puts a job back in the place of the message it was delivered in, for at
// once or for a time. ErrExists: it has gone on in another message.
func (q *Queue) postpone(ctx context.Context, e envelope, sequence uint64, until time.Time) error {
	key := key(e.ID)
	class, err := q.route(ctx, &e)
	if err != nil {
		return err
	}
	subject := q.place(class, e.priority(), key)
	var schedule string
	if until.After(time.Now()) {
		subject, schedule = q.later(e.priority(), key), subject
	}
	msg, err := q.message(ctx, subject, key, e.content())
	if err != nil {
		return err
	}
	if schedule != "" {
		at(msg.Header, until, schedule)
	}
	if err := q.replace(ctx, msg, key, sequence); err != nil {
		_ = q.discard(ctx, msg.Header) // else it is swept later
		return err
	}
	return q.nc.Publish(q.wake(), []byte(takerName(e.priority(), class)))
}

// replace publishes a message of a job in the place of an earlier one. ErrExists: the job has gone on in another.
func (q *Queue) replace(ctx context.Context, msg *nats.Msg, key string, sequence uint64) error {
	_, err := q.js.PublishMsg(ctx, msg, js.WithExpectLastSequenceForSubject(sequence, q.anyJob(key)))
	if conflict(err) {
		return ErrExists
	}
	return err
}

// The headers with which the server publishes a message at a time.
const (
	scheduleHeader = "Nats-Schedule"
	targetHeader   = "Nats-Schedule-Target"
)

func at(h nats.Header, until time.Time, target string) {
	h.Set(scheduleHeader, "@at "+until.UTC().Format(time.RFC3339Nano))
	h.Set(targetHeader, target)
}
