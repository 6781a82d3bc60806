package cooling

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/plaintext"
)

// inDoubt reports whether the call may send a probe first: enough different requests have failed, and no other call
// probes, or has done so lately.
func (k *Keeper) inDoubt(s cooldown.State, e *Entry) bool {
	rule := k.Rules[s.Reason]
	return rule.Confirm && s.Requests != "" && s.Failures >= max(rule.After, 1) &&
		(!e.probe.IsZero() || !e.began.Before(s.Probe)) && (s.Scope == "" || s.Scope == e.call.Scope(rule.Scope))
}

// Confirm probes a backend of which enough different requests have failed, before the call that the entry is for. ask
// sends a request that no caller has a part in, and returns what it has tried; cutShort is that of Failed. The error is
// that of a backend that cools down because the probe has failed, with the usage of the probe. Where another call
// probes, Confirm does nothing.
func (e *Entry) Confirm(
	ctx context.Context, ask func() (probed []call.Attempt, cutShort bool, err error),
) (refused *call.Error) {
	if e == nil || !e.doubtful || e.probe.IsZero() && !e.takeProbe(ctx) {
		return nil
	}
	e.doubtful = false
	probed, cutShort, err := ask()
	if err == nil {
		e.proved(ctx)
	} else if failed := call.AsError(e.call.Name(), err); cutShort || failed.Reason == call.ReasonCanceled {
		e.Left(ctx)
	} else if e.keeper.Rules[failed.Reason].Base <= 0 {
		e.proved(ctx) // the probe tells nothing
	} else if refused = e.refuted(ctx, failed); refused != nil {
		for _, a := range probed {
			refused.Usage = refused.Usage.Add(a.Usage)
		}
		probed = nil
	}
	e.began, e.probe, e.probed = e.keeper.now(), time.Time{}, slices.Clip(probed)
	return refused
}

// Doubtful reports whether Confirm may have to send a probe.
func (e *Entry) Doubtful() bool { return e != nil && e.doubtful }

// Probed is what the probe of the call has tried and used, where the call may go on after one; else it is empty.
func (e *Entry) Probed() []call.Attempt {
	if e == nil {
		return nil
	}
	return e.probed
}

// refuted begins the cooldown after a probe that has failed. It returns nil where there is none, because a call was
// answered meanwhile.
func (e *Entry) refuted(ctx context.Context, failed *call.Error) *call.Error {
	state, now := e.keep(ctx, failed, true), e.keeper.now()
	if !now.Before(state.Until) {
		return nil
	}
	refused := coolingError(e.call, state, state.Until, now)
	refused.Message += "; a probe failed as well: " + plaintext.OneLine(failed.Class()+" "+failed.Detail())
	return refused
}

// takeProbe makes this call the only one that probes. Where the store does not say so, it does not: that would cost
// something.
func (e *Entry) takeProbe(ctx context.Context) bool {
	var probe time.Time
	err := e.keeper.update(ctx, e.key, func(s cooldown.State) cooldown.State {
		probe = time.Time{}
		if s = sane(s, e.began); s.Until.IsZero() && e.keeper.inDoubt(s, e) {
			probe = e.began.Add(probeTime(ctx, e.call))
			s.Probe = probe
		}
		return s
	})
	if err != nil || probe.IsZero() {
		return false
	}
	e.probe = probe
	return true
}

// proved clears the failures that a probe has not confirmed. The next probe waits as long as the cooldown would have
// lasted, so that requests that fail cannot make the backend answer one after the other.
func (e *Entry) proved(ctx context.Context) {
	now := e.keeper.now()
	_ = e.keeper.update(ctx, e.key, func(s cooldown.State) cooldown.State {
		if !e.probe.Equal(s.Probe) {
			return s
		}
		return cooldown.State{Reason: s.Reason, At: now, Probe: now.Add(e.keeper.Rules[s.Reason].Base)}
	})
}

// cleared is a state without its failures. When the next probe may be made stays.
func cleared(s cooldown.State, now time.Time) cooldown.State {
	if s.Until.IsZero() && s.Probe.After(now) {
		return cooldown.State{Reason: s.Reason, At: s.At, Probe: s.Probe}
	}
	return cooldown.State{}
}

// fingerprint is a hash of what a request asks for. Where it works, and for whom, is no part of it.
func fingerprint(req call.Request) string {
	text, err := json.Marshal(call.Request{
		Messages: req.Messages, Model: req.Model, Access: req.Access, Schema: req.Schema, Options: req.Options,
	})
	if err != nil { // raw JSON that is none
		text = nil
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
