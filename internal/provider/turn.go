package provider

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/backend"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/wire"
	"github.com/tidwall/gjson"
)

// turn composes a request as a turn of a process. A request that needs a different process is unsupported.
func (p *Provider) turn(inv *plan, req call.Request) (*compose.Call, *call.Error) {
	if err := compose.Check(req); err != nil {
		return nil, p.Label(err)
	}
	made, _, err := p.compose(inv.Path, req, inv.known, inv.mode)
	if err != nil {
		return nil, p.Label(err)
	}
	other := *made
	other.Call = inv.Call
	if !reflect.DeepEqual(&other, inv.Invocation) ||
		!slices.Equal(made.Call.Opening(&p.Spec.Live), inv.Call.Opening(&p.Spec.Live)) {
		return nil, p.Label(call.Errorf(call.ReasonUnsupported, "live", "the request needs a process with other settings"))
	}
	return made.Call, nil
}

// notHeld is the error of a process that did not start, or refused to begin.
func (p *Provider) notHeld(err error) *call.Error {
	refused, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return p.Label(backend.SpawnFailure(err))
	}
	said := refused.Message
	for _, path := range []string{"details", "message"} {
		if text := gjson.GetBytes(refused.Data, path); text.Type == gjson.String {
			said += "\n" + text.String()
		}
	}
	ev := &judge.Evidence{
		Output: clispec.OutputText, Tally: new(judge.Tally), Result: proc.Result{ExitCode: 1}, Now: time.Now(),
		Stderr: said, Said: said,
	}
	be := p.Unexplained(ev)
	if be.Reason != call.ReasonExit || !errors.Is(err, held.ErrNotResumed) {
		return be
	}
	be.Reason, be.Message, be.Hint = call.ReasonBadSession, err.Error(), "ask without the session, or in a call of its own"
	if refused.Code == wire.MethodNotFound {
		be.Reason, be.Option = call.ReasonUnsupported, "session"
		be.Hint = "the installed version resumes no session in its live mode: update it, or resume the session in a call"
	}
	return be
}
