package jetstream

import (
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/reasons"
)

// maxHistory bounds the history of a job.
const maxHistory = 100

// failures counts the deliveries that failed. Waiting for the end of a limit and the end of a worker are no failures.
func failures(history []Delivery) (n int) {
	for _, d := range history {
		if d.Reason != clichain.ReasonCanceled && (!reasons.Limits.Has(d.Reason) || d.Until.IsZero()) {
			n++
		}
	}
	return n
}

// failureOf returns the Failure for the error of a call.
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

// redelivery decides whether a failed job is delivered again. For a permanent failure it returns nil and an addition to
// the message, else the next delivery. otherMay reports whether another worker may meet a deadline that a limit
// prevents this one from meeting.
func redelivery(
	d *delivery, f *Failure, err error, ended bool, now time.Time, otherMay func() bool,
) (again *Delivery, addition string) {
	chain, _ := errors.AsType[*clichain.ChainError](err)
	if chain == nil || f.SideEffects && d.mayAct() {
		return nil, ""
	}
	again = &Delivery{Reason: f.Reason, Message: firstLine(f.Message), Usage: chain.Usage()}
	switch limit := reasons.Limit(chain); {
	case ended:
		again.Reason, again.Message = clichain.ReasonCanceled, "the worker ended while the job ran"
		return again, ""
	case reasons.Permanent.Has(f.Reason):
		return nil, ""
	case limit != "":
		again.Reason, again.Until = limit, chain.RetryAfter()
	case !reasons.Temporary(chain):
		return nil, ""
	default:
		again.Until = now.Add(pause(failures(d.History)))
	}
	if !d.Deadline.IsZero() && again.Until.After(d.Deadline) &&
		(!reasons.Limits.Has(again.Reason) || !otherMay()) {
		return nil, " (its deadline is before " + again.Until.Format(time.RFC3339) + ", when it could run again)"
	}
	return again, ""
}

// pause returns how long a job waits after so many failures: 2 s, doubled each time to 2 min at most, plus up to a
// fifth. The random part spreads the retries of jobs that failed together.
func pause(failures int) time.Duration {
	wait := min(2*time.Second<<min(failures, 10), 2*time.Minute)
	return wait + rand.N(wait/5)
}

// firstDetail returns the first line of the first backend's error.
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
