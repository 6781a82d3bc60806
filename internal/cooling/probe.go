package cooling

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/policy"
)

const (
	probePrompt = "Reply with the word OK." // the prompt and its answer are short
	// maxProbe limits a probe of a backend that has a long timeout for its usual work.
	maxProbe = time.Minute
)

// errProbe is the error of an answered probe in the list of attempts. The probe is listed because it is paid
// for.
var errProbe = errors.New("this was an answered probe: different requests had failed in a row")

// Probe sends a backend a fixed request. From req it takes only the fields that select the cooldown. It returns
// the attempts of the probe. cutShort reports that the probe ended because the caller had less than half of the
// probe's time left: a caller with a short deadline must not decide about the backend.
func Probe(
	caller, ctx context.Context, c Call, req call.Request,
	ask func(context.Context, call.Request) (*call.Response, error),
) (tried []call.Attempt, cutShort bool, err error) {
	limit := maxProbe
	if d := c.Timeout(); d > 0 {
		limit = min(d, maxProbe)
	}
	ctx, cancel := judge.Within(call.WithHostTools(ctx, nil), limit) // a probe needs no functions of the caller
	defer cancel()
	probe := call.Prompt(probePrompt)
	probe.Model, probe.Billing = req.Model, req.Billing
	start := time.Now()
	resp, err := ask(ctx, probe)
	took := time.Since(start)
	if err != nil {
		deadline, ok := caller.Deadline()
		cutShort = ok && deadline.Sub(start) < limit/2 && errors.Is(err, context.DeadlineExceeded)
		err = withoutSession(err)
		return policy.AttemptsOf(c.Name(), err, took), cutShort, err
	}
	answered := call.Attempt{
		Backend: c.Name(), Reason: call.ReasonCanceled, Duration: took, Usage: resp.Usage, Err: errProbe,
	}
	return append(slices.Clone(resp.Attempts), answered), false, nil
}

// withoutSession returns the error of a probe without the sessions of the probe, which no call continues.
func withoutSession(err error) error {
	be, ok := err.(*call.Error)
	if !ok {
		return err
	}
	own := *be
	own.Session, own.Earlier = "", slices.Clone(be.Earlier)
	for i, a := range own.Earlier {
		own.Earlier[i].Err = withoutSession(a.Err)
	}
	return &own
}
