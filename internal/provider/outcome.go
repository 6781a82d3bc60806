package provider

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/sessionfile"
	"github.com/clichain/clichain/internal/skiplist"
)

// outcome is a run that has ended.
type outcome struct {
	*Provider
	plan *plan
	req  call.Request
	ev   *judge.Evidence
	took time.Duration
}

// conclude judges the run: it returns the response, or the error in the verdict.
func (o *outcome) conclude(ctx context.Context) (*call.Response, judge.Verdict) {
	ev, spec := o.ev, o.Spec
	ev.RawOK, ev.Redact = o.Settings.RawOutput, o.Settings.RedactAnswers
	ev.Strip = o.Settings.StripFence || len(o.req.Schema) > 0
	v := o.Judge().Verdict(ev)
	if o.plan.box.Explain(v.Err, ev, spec.Hints); o.plan.box == nil && v.Err != nil {
		judge.AddHint(v.Err, homeHint(o.Environ()))
	}
	o.plan.explain(v.Err, ev)
	hintDrift(v.Err, machine.Drift(o.plan.Call.Version, spec.CheckedWith))
	v.Acted = o.req.Access >= call.AccessWrite && o.Judge().Acted(ev, v.Err) || o.plan.mode.tools.HaveActed()
	ev.Secrets.AllDisguised(ev.Tally.Warnings)
	log := o.Settings.Logger.With("backend", o.Name)
	if v.Err != nil {
		log.DebugContext(ctx, "cli end", "duration", o.took, "exit", ev.Result.ExitCode, "reason", v.Err.Reason)
		redactError(ev.Secrets, v.Err)
		v.Err.Usage, v.Err.Quota = o.ownUsage(v.Err.Usage), o.windows(time.Now())
		v.Err.SideEffects, v.Err.Confined = v.Acted, o.plan.confined.how
		o.keepSession(v.Err)
		v.Err.Warnings = slices.Concat(v.Err.Warnings, o.plan.Call.Warnings, o.plan.confined.watched.Changed())
		return nil, v
	}
	log.DebugContext(ctx, "cli end", "duration", o.took, "exit", ev.Result.ExitCode)
	return o.response(v.Text), v
}

// homeHint describes a problem with the home directory that keeps a CLI from storing data. Few CLIs report it.
func homeHint(environ map[string]string) string {
	code, message, hint := machine.HomeProblem(login.PlaceOf(environ, "").Home)
	if code == "" {
		return ""
	}
	return message + "; " + hint
}

// hintDrift adds a hint about a CLI that is newer than its spec, if the error suggests that arguments or output
// were not understood. An update of the CLI would not help.
func hintDrift(err *call.Error, drift string) {
	if err == nil || drift == "" {
		return
	}
	hint := drift + ": update clichain, or the spec"
	switch err.Reason {
	case call.ReasonUnsupported:
		err.Hint, err.Advice = hint, nil
	case call.ReasonExit, call.ReasonBadOutput:
		judge.AddHint(err, hint)
	}
}

// redactError redacts the texts of an error, except the partial answer.
func redactError(r *plaintext.Redactor, err *call.Error) {
	for _, text := range []*string{&err.Message, &err.Stderr, &err.Hint} {
		*text = r.CleanDisguised(*text)
	}
	for i := range err.Advice {
		err.Advice[i].Value = r.CleanDisguised(err.Advice[i].Value)
	}
}

func (o *outcome) response(text string) *call.Response {
	t, inv, spec := o.ev.Tally, o.plan, o.Spec
	total := t.Total()
	resp := &call.Response{
		Text: text, Backend: o.Name, Provider: spec.ProviderSlug,
		Model:   cmp.Or(t.Model, inv.Call.Fields.Expand("{model}"), spec.DefaultModel),
		Session: o.session(), KeySource: t.KeySource, Billing: inv.bill.Payer(t.KeySource),
		Usage: o.ownUsage(total), Quota: o.windows(time.Now()), Duration: o.took,
		Warnings: slices.Concat(skiplist.EnvironDoubts(), t.Warnings, inv.Call.Warnings, inv.confined.watched.Changed()),
		Flags:    t.Flags, Metadata: o.req.Metadata,
		Drift: machine.Drift(inv.Call.Version, spec.CheckedWith), Confined: inv.confined.how,
	}
	resp.Warnings = append(resp.Warnings, o.saveSession(resp.Session)...)
	return resp
}

// session returns the handle of the session that the CLI reported, or "" if it stored none.
func (o *outcome) session() string {
	ends := o.plan.box != nil && o.plan.Empty || o.plan.Private // the directory ends with the call
	if o.req.Options.NoSessionPersistence || ends && o.Spec.Sessions.DirBound {
		return ""
	}
	return session.Handle{Backend: o.Name, ID: o.ev.Tally.Session}.String()
}

// keepSession sets the session of a failed run, and records its directory and usage, so that a call can continue it.
func (o *outcome) keepSession(err *call.Error) {
	if err.Reason == call.ReasonBadSession {
		return
	}
	err.Session = o.session()
	err.Warnings = append(err.Warnings, o.saveSession(err.Session)...)
}

// saveSession stores the record of the session of a run. A failure becomes a warning.
func (o *outcome) saveSession(handle string) (warnings []string) {
	if handle == "" {
		return nil
	}
	used := o.sessionUsage(handle, o.ev.Tally.Total())
	if used == nil && o.plan.known != nil && o.req.Session == handle { // a failed run may report no usage
		used = o.plan.known.Used
	}
	if err := sessionfile.Save(handle, session.Record{Dir: o.plan.Dir, Used: used}); err != nil {
		return []string{"the directory and the usage of the session could not be recorded: " + err.Error()}
	}
	return nil
}

// ownUsage returns the run's part of the usage u, because the CLI may accumulate usage over a session. The
// newest session is known only after the run.
func (o *outcome) ownUsage(u call.Usage) call.Usage {
	switch {
	case o.req.Options.Continue:
		newest := session.Handle{Backend: o.Name, ID: o.ev.Tally.Session}
		return session.Rebase(o.Spec.Sessions, u, sessionfile.Load(newest.String()))
	case o.req.Session != "" && !o.countsTurns():
		return session.Rebase(o.Spec.Sessions, u, o.plan.known)
	}
	return u
}

// countsTurns reports whether the CLI counts each turn of its live mode separately, instead of the total of a
// session.
func (o *outcome) countsTurns() bool {
	return o.plan.mode.output == clispec.OutputLive && len(o.Spec.Live.Cumulative) == 0
}

// sessionUsage returns the usage of the whole session, after a run that counted total. It returns nil if that
// usage is unknown.
func (o *outcome) sessionUsage(handle string, total call.Usage) *call.Usage {
	used := session.Used(o.Spec.Sessions, total)
	if used == nil || !o.countsTurns() {
		return used
	}
	switch known := sessionfile.Load(handle); {
	case known == nil && o.req.Session == "": // the first turn of a new session
		return used
	case known == nil || known.Used == nil:
		return nil
	default:
		return new(known.Used.Add(*used))
	}
}
