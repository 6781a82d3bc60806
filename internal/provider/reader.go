package provider

import (
	"context"
	"log/slog"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/reading"
)

// reader reads what the CLI prints in an output mode.
func (p *Provider) reader(
	ctx context.Context, c *plan, output clispec.OutputMode, emit func(call.Event),
) *reading.Reading {
	r := &reading.Reading{
		Name: p.Name, Program: p.Program(), Judge: p.Judge(), Output: output, Answer: p.Spec.Answer,
		Tools: p.Spec.ToolEventsIn(output), AfterStream: c.mode.after,
		Prompt:  c.Call.Fields.Expand("{prompt}"),
		Secrets: plaintext.NewRedactor(append(c.Call.ServerSecrets(), c.Env...)), KeepCommentary: p.Settings.KeepCommentary,
		Withhold: p.Settings.RedactAnswers,
		Emit:     emit, Check: func(e *call.Event) (judge.Finding, bool) { return c.check(p.Spec, e) },
	}
	if log := p.Settings.Logger; log.Enabled(ctx, slog.LevelDebug) {
		r.Unread = func(why, line string) {
			log.DebugContext(ctx, "cli line not read", "backend", p.Name, "why", why, "line", line)
		}
	}
	return r
}

// check refuses a run that began a new session instead of continuing the given one, because its answer would lack the
// conversation, and a run that the wrong account pays for.
func (c *plan) check(spec *clispec.Spec, e *call.Event) (judge.Finding, bool) {
	if e.Kind != call.EventSession && e.KeySource == "" {
		return judge.Finding{}, false
	}
	asked := c.Call.Fields["session"]
	if e.Kind == call.EventSession && spec.Sessions.SameID && len(asked) > 0 && e.Session != asked[0] {
		message := "the CLI began a new session in place of " + asked[0]
		return judge.Finding{Reason: call.ReasonBadSession, Message: message}, true
	}
	if err := c.bill.Refused(e.KeySource); err != nil {
		return judge.Finding{Reason: err.Reason, Message: err.Message, Hint: err.Hint, Advice: err.Advice}, true
	}
	return judge.Finding{}, false
}
