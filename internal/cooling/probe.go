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
	probePrompt = "Reply with the word OK." // short, and so is its answer
	// maxProbe bounds a probe of a backend whose timeout is that of long work.
	maxProbe = time.Minute
)

// errProbe is why a probe that was answered is listed among the attempts: it is paid for.
var errProbe = errors.New("this was a probe by clichain, since different requests had failed in a row; it was answered")

// Probe asks a backend a request that no caller can make fail; only what selects the cooldown is that of req. It
// returns what the probe has tried. cutShort reports that it ended because the caller had less than half of the time
// for it: a caller with a short deadline must not decide about the backend.
func Probe(
	caller, ctx context.Context, c Call, req call.Request,
	ask func(context.Context, call.Request) (*call.Response, error),
) (tried []call.Attempt, cutShort bool, err error) {
	limit := maxProbe
	if d := c.Timeout(); d > 0 {
		limit = min(d, maxProbe)
	}
	ctx, cancel := judge.Within(ctx, limit)
	defer cancel()
	probe := call.Prompt(probePrompt)
	probe.Model, probe.Billing = req.Model, req.Billing
	start := time.Now()
	resp, err := ask(ctx, probe)
	took := time.Since(start)
	if err != nil {
		deadline, ok := caller.Deadline()
		cutShort = ok && deadline.Sub(start) < limit/2 && errors.Is(err, context.DeadlineExceeded)
		return policy.AttemptsOf(c.Name(), err, took), cutShort, err
	}
	answered := call.Attempt{
		Backend: c.Name(), Reason: call.ReasonCanceled, Duration: took, Usage: resp.Usage, Err: errProbe,
	}
	return append(slices.Clone(resp.Attempts), answered), false, nil
}
