package failover

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/cooling"
)

// enter begins a call of a candidate, or returns why the candidate is skipped.
func (l *Loop) enter(c *contender) (*cooling.Entry, *call.Error) {
	if err := l.skip(c, !l.started); err != nil {
		return nil, err
	}
	return l.Cooldowns.Enter(l.ctx, c.call(l.Req))
}

// skip returns why a candidate is skipped, without checking its cooldown. first means that nothing was started
// yet.
func (l *Loop) skip(c Candidate, first bool) *call.Error {
	var err *call.Error
	now := time.Now()
	switch {
	case l.spent() || l.budget.over(now):
		err = call.Errorf(call.ReasonBudgetSpent, "", "the chain's budget was spent before this backend could start")
	case l.budget.lacks(now, first):
		err = call.Errorf(call.ReasonBudgetSpent, "", "%v of the chain's budget was left, but an attempt "+
			"needs %v", l.budget.end.Sub(now).Round(time.Millisecond), l.budget.minimum.Round(time.Millisecond))
	case l.MaxCostUSD > 0 && l.cost() >= l.MaxCostUSD:
		err = call.Errorf(call.ReasonBudgetSpent, "", "earlier attempts cost %.4f of %.4f USD", l.cost(), l.MaxCostUSD)
	default:
		return Mismatch(c, l.Req, l.Owner)
	}
	err.Backend = c.Name()
	return err
}

// hasFallback reports whether a candidate after index i, or after this chain, can serve the request. The
// goroutines of candidate i call it while the loop waits for them.
func (l *Loop) hasFallback(i int) bool {
	return slices.ContainsFunc(l.order[i+1:], l.eligible) || l.Outer.HasFallback != nil && l.Outer.HasFallback()
}

// eligible reports whether a candidate can serve the request later in this call.
func (l *Loop) eligible(c *contender) bool {
	return l.skip(c, false) == nil && l.Cooldowns.Skip(l.ctx, c.call(l.Req)) == nil && c.CanServe(l.ctx, l.Req)
}

// cost returns the known cost of the attempts so far, in USD.
func (l *Loop) cost() (usd float64) {
	for _, a := range l.attempts {
		if a.Usage.CostUSD != nil {
			usd += *a.Usage.CostUSD
		}
	}
	return usd
}

// mayGoOn applies the decision table to the last failure.
func (l *Loop) mayGoOn(err error) bool {
	last := l.attempts[len(l.attempts)-1]
	if l.note = l.bound(last, err); l.note != "" {
		return false
	}
	if l.ctx.Err() != nil {
		return l.spent() // the other candidates are listed as skipped
	}
	lost := last.Reason == call.ReasonBadSession && len(l.Req.Threads) > 0 // the request has all messages
	return !l.Table[last.Reason].Stop || lost || call.Misconfigured(err)
}

// bound returns why no other candidate may run after the last attempt, whatever its failure was. It returns ""
// if another candidate may run.
func (l *Loop) bound(last call.Attempt, err error) string {
	switch {
	case !l.ReplayAlways && sideEffects(err):
		return last.Backend + " may have used a tool that changed something, so no other backend was tried"
	case l.ReplayNever && l.Req.Access >= call.AccessWrite && !last.Skipped:
		return fmt.Sprintf("%s had begun, and the replay policy does not allow another run with write access", last.Backend)
	case chainview.MisfitsOf(l.Caller).Spent():
		return "too many answers did not match the schema, so no other backend was tried"
	case l.delivered && !l.CanReset:
		return fmt.Sprintf("text of %s was already delivered and cannot be taken back", last.Backend)
	}
	return ""
}

// sideEffects reports whether a backend in the error may have changed something.
func sideEffects(err error) bool {
	if be, ok := errors.AsType[*call.Error](err); ok && be.SideEffects {
		return true
	}
	chain, ok := errors.AsType[*call.ChainError](err)
	return ok && slices.ContainsFunc(chain.Attempts, func(a call.Attempt) bool { return sideEffects(a.Err) })
}

// allWaiting returns the cause of a call that started nothing because all eligible candidates are in cooldown or
// have only their reserve left. For any other call, it returns nil.
func allWaiting(attempts []call.Attempt) error {
	var first *call.Error
	states := map[call.Reason]string{}
	for _, a := range attempts {
		if !a.Skipped || a.StopsChain() {
			return nil
		}
		be, _ := errors.AsType[*call.Error](a.Err)
		if state := waiting[a.Reason]; state != "" && be != nil {
			states[a.Reason] = state
			if first == nil || sooner(be.RetryAfter, first.RetryAfter) {
				first = be
			}
		}
	}
	if first == nil {
		return nil
	}
	err := call.Errorf(first.Reason, "", "every eligible backend %s",
		strings.Join(slices.Sorted(maps.Values(states)), " or "))
	if err.RetryAfter = first.RetryAfter; !first.RetryAfter.IsZero() {
		err.Message += ", the first of them " + cooling.UntilText(first.RetryAfter, time.Now())
	}
	return err
}

// waiting describes the candidates that a call skips until a time.
var waiting = map[call.Reason]string{
	call.ReasonCoolingDown: "is in cooldown", call.ReasonReserved: "is reserved",
}

// sooner reports whether a time is before another one. The zero time means never.
func sooner(a, b time.Time) bool { return !a.IsZero() && (b.IsZero() || a.Before(b)) }
