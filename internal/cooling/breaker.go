package cooling

import (
	"context"
	"time"

	"github.com/clichain/clichain/call"
)

// Again begins a further call, with a request of its own, in a process that Enter has let
// start. The half-open probe, if e still has it, goes over to the new entry. A nil req means
// that no request can be to blame for a failure.
func (e *Entry) Again(req *call.Request) *Entry {
	if e == nil {
		return nil
	}
	next := *e
	next.began, next.request, e.probe = e.keeper.now(), req, time.Time{}
	return &next
}

// Ended closes the entry as a breaker does: a nil err is an answer, and the time that a
// backend asks to wait does not count. cutShort is that of Failed.
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
