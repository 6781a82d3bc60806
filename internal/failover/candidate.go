package failover

import (
	"context"
	"iter"
	"sync"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/cooling"
)

// Candidate is a backend as a chain uses it. It is safe for concurrent use.
type Candidate interface {
	Name() string
	// Claims reports whether a model name addresses the backend. The empty name addresses no backend.
	Claims(model string) bool
	// Cooldown describes a call with the request to the keeper of the cooldowns.
	Cooldown(req call.Request) cooling.Call
	// CanServe reports whether the backend would accept the request, if that is known without starting it.
	CanServe(ctx context.Context, req call.Request) bool
	// Stream answers the request. It follows the contract of clichain.Backend.
	Stream(ctx context.Context, req call.Request) iter.Seq2[call.Event, error]
	// Observed reports whether code other than the chain may read the events of the backend.
	Observed() bool
}

// contender is a candidate in one call of a chain.
type contender struct {
	Candidate
	place int // index in Chain.Candidates and Stats

	once  sync.Once
	about cooling.Call
}

// call describes the call to the keeper of the cooldowns. All uses share the description, because its keys take time.
func (c *contender) call(req call.Request) cooling.Call {
	c.once.Do(func() { c.about = c.Cooldown(req) })
	return c.about
}

// Mismatch returns the skip of a candidate if the model of the request addresses another candidate, the owner.
// Otherwise it returns nil. owner is nil if the model addresses no candidate.
func Mismatch(c Candidate, req call.Request, owner Candidate) *call.Error {
	if owner == nil || c.Claims(req.Model) {
		return nil
	}
	err := call.Errorf(call.ReasonModelMismatch, "model", "%q belongs to %s", req.Model, owner.Name())
	err.Backend = c.Name()
	return err
}

// NoAnswer returns the error of a backend whose stream ends without an answer.
func NoAnswer(name string) *call.Error {
	return &call.Error{Backend: name, Reason: call.ReasonBadOutput, Message: "the stream ended without an answer"}
}
