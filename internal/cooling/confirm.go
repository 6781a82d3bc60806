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

// inDoubt reports whether the call may send a probe first: enough different requests have failed, and no other
// call is probing or has probed recently.
func (k *Keeper) inDoubt(s cooldown.State, e *Entry) bool {
	rule := k.Rules[s.Reason]
	return rule.Confirm && s.Requests != "" && s.Failures >= max(rule.After, 1) &&
		(!e.probe.IsZero() || !e.began.Before(s.Probe)) && (s.Scope == "" || s.Scope == e.call.Scope(rule.Scope))
}

// Confirm probes a backend before the call of the entry, if enough different requests have failed there. ask
// sends a request that does not depend on any caller, and returns its attempts; cutShort is as in Failed. If
// the probe fails, Confirm returns the error of a backend in cooldown, with the usage of the probe. If another
// call is probing, Confirm does nothing.
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
	} else if failed := call.AsError(e.call.Name(), err); failed.Reason == call.ReasonCanceled ||
		e.excused(failed, cutShort) {
		e.Left(ctx)
	} else if e.keeper.Rules[failed.Reason].Base <= 0 {
		e.proved(ctx) // the outcome of the probe is no evidence
	} else if refused = e.refuted(ctx, failed); refused != nil {
		for _, a := range probed {
			refused.Usage = refused.Usage.Add(a.Usage)
		}
		probed = nil
	}
	e.began, e.probe, e.probed = e.keeper.now(), time.Time{}, slices.Clip(probed)
	return refused
}

// Reenter begins the call of the entry again after an answered probe, because another call may have met a limit in the
// meantime. It returns an error under the same conditions as Enter, and may take the half-open probe.
func (e *Entry) Reenter(ctx context.Context) *call.Error {
	next, refused := e.keeper.Enter(ctx, e.call)
	if refused == nil {
		next.doubtful, next.probed = false, e.probed
		*e = *next
	}
	return refused
}

// Doubtful reports whether Confirm may have to send a probe.
func (e *Entry) Doubtful() bool { return e != nil && e.doubtful }

// Probed returns the attempts of the probe if the call may continue after one. Otherwise it returns nil.
func (e *Entry) Probed() []call.Attempt {
	if e == nil {
		return nil
	}
	return e.probed
}

// refuted begins the cooldown after a failed probe. It returns nil if there is no cooldown, because another
// call was answered in the meantime.
func (e *Entry) refuted(ctx context.Context, failed *call.Error) *call.Error {
	state, now := e.keep(ctx, failed, true), e.keeper.now()
	if !now.Before(state.Until) {
		return nil
	}
	refused := coolingError(e.call, state, state.Until, now)
	refused.Message += "; a probe failed as well: " + plaintext.OneLine(failed.Class()+" "+failed.Detail())
	return refused
}

// takeProbe makes this call the only one that probes. If the store does not confirm that, the call does not
// probe, because a probe may cost money.
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

// proved clears the failures that a probe has not confirmed. The next probe is possible only after the time
// that the cooldown would have lasted, so that a series of failing requests cannot cause a series of probes.
func (e *Entry) proved(ctx context.Context) {
	now := e.keeper.now()
	_ = e.keeper.update(ctx, e.key, func(s cooldown.State) cooldown.State {
		if !e.probe.Equal(s.Probe) {
			return s
		}
		return cooldown.State{Reason: s.Reason, At: now, Probe: now.Add(e.keeper.Rules[s.Reason].Base)}
	})
}

// cleared returns a state without its failures. It keeps the time of the next probe.
func cleared(s cooldown.State, now time.Time) cooldown.State {
	if s.Until.IsZero() && s.Probe.After(now) {
		return cooldown.State{Reason: s.Reason, At: s.At, Probe: s.Probe}
	}
	return cooldown.State{}
}

// fingerprint returns a hash of what a request asks for. The working directory and the account are not part of
// it.
func fingerprint(req call.Request) string {
	text, err := json.Marshal(call.Request{
		Messages: req.Messages, Model: req.Model, Access: req.Access, Schema: req.Schema, Options: req.Options,
	})
	if err != nil { // invalid raw JSON
		text = nil
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
