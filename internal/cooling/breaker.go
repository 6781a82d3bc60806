package cooling

import (
	"context"
	"time"

	"github.com/clichain/clichain/call"
)

// Again begins another call, with its own request, in a process that Enter has admitted. If e still has the
// half-open probe, the new entry gets it. A nil req means that a failure cannot be due to the request.
func (e *Entry) Again(req *call.Request) *Entry {
	if e == nil {
		return nil
	}
	next := *e
	next.began, next.request, e.probe = e.keeper.now(), req, time.Time{}
	return &next
}

// Ended closes the entry as a breaker does. A nil err means an answer. The retry time that a backend reports is
// ignored. cutShort is as in Failed.
func (e *Entry) Ended(ctx context.Context, err error, cutShort bool) {
	switch {
	case e == nil:
		return
	case err == nil:
		e.Answered(ctx)
	default:
		failed := call.AsError("", err)
		e.Failed(ctx, &call.Error{Reason: failed.Reason, Stage: failed.Stage}, cutShort)
	}
	e.probe = time.Time{}
}
