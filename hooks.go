package clichain

import (
	"context"
	"log/slog"
	"time"
)

// Hooks are called as a chain's call goes on. Each may be nil. They run in the
// goroutine that reads the call, one after the other, and hold it up: return
// soon. Calls of one chain that run at once call them at once. Prompts and
// answers are in Event and Answer only.
type Hooks struct {
	// AttemptStart: a run of a backend begins.
	AttemptStart func(ctx context.Context, backend string)
	// Event is every event of the call, those of clichain itself too. Secrets
	// of the CLI's environment are removed from all but the model's own words.
	Event func(ctx context.Context, e Event)
	// AttemptEnd: a backend did not answer.
	AttemptEnd func(ctx context.Context, a Attempt)
	// Skip: a backend was passed over, without a process.
	Skip func(ctx context.Context, a Attempt)
	// Cooldown: a backend cools down from now on.
	Cooldown func(ctx context.Context, backend string, reason Reason, until time.Time)
	// Answer: the call has its answer.
	Answer func(ctx context.Context, resp *Response)
}

// LogHooks write a record for each step of a call, without prompts, answers
// and secrets. The keys are stable: backend, reason, error, duration, until,
// attempts, model, input_tokens, output_tokens, cost_usd. Starts are debug
// records, skips and answers info, failures and cooldowns warnings.
func LogHooks(log *slog.Logger) Hooks {
	return Hooks{
		AttemptStart: func(ctx context.Context, backend string) {
			log.DebugContext(ctx, "attempt start", "backend", backend)
		},
		AttemptEnd: func(ctx context.Context, a Attempt) {
			log.WarnContext(ctx, "attempt failed",
				"backend", a.Backend, "reason", a.Reason, "duration", a.Duration, "error", a.Err)
		},
		Skip: func(ctx context.Context, a Attempt) {
			log.InfoContext(ctx, "backend skipped", "backend", a.Backend, "reason", a.Reason)
		},
		Cooldown: func(ctx context.Context, backend string, reason Reason, until time.Time) {
			log.WarnContext(ctx, "cooldown", "backend", backend, "reason", reason, "until", until)
		},
		Answer: func(ctx context.Context, resp *Response) {
			attrs := []any{
				"backend", resp.Backend, "model", resp.Model, "duration", resp.Duration, "attempts", len(resp.Attempts),
				"input_tokens", resp.Usage.InputTokens, "output_tokens", resp.Usage.OutputTokens,
			}
			if resp.Usage.CostUSD != nil {
				attrs = append(attrs, "cost_usd", *resp.Usage.CostUSD)
			}
			log.InfoContext(ctx, "answered", attrs...)
		},
	}
}

// see passes an event of a call on to those who watch it.
func (h *Hooks) see(ctx context.Context, e Event) {
	if h.Event != nil {
		h.Event(ctx, e)
	}
	switch {
	case e.Kind == EventStart && h.AttemptStart != nil:
		h.AttemptStart(ctx, e.Backend)
	case e.Kind == EventAttempt && e.Attempt.Skipped && h.Skip != nil:
		h.Skip(ctx, *e.Attempt)
	case e.Kind == EventAttempt && !e.Attempt.Skipped && h.AttemptEnd != nil:
		h.AttemptEnd(ctx, *e.Attempt)
	case e.Kind == EventDone && h.Answer != nil:
		h.Answer(ctx, e.Response)
	}
}
