package clichain

import (
	"cmp"
	"context"
	"slices"

	"github.com/clichain/clichain/internal/structured"
)

// structure is what a call with a Request.Schema needs beyond the tries.
type structure struct {
	schema   *structured.Schema // nil: free text
	acted    bool               // a tool may have changed something
	problem  string             // of the last answer there was; empty: none
	repaired bool               // the model has been asked for a correction
}

// hold holds a successful answer against the schema: its text becomes the JSON
// text, or it becomes a failure.
func (s *structure) hold(resp *Response) *BackendError {
	var failed *BackendError
	if s.problem, failed = s.schema.Hold(resp); failed != nil {
		failed.SideEffects = s.acted
		return failed
	}
	if s.repaired {
		structured.Repaired(resp)
	}
	return nil
}

// repair prepares the run that asks for a correction, or says that there is to
// be none: one is enough, what a tool did is not to be done twice, and half a
// run is of no use.
func (t *tries) repair(ctx context.Context) bool {
	if t.err == nil || t.structure.problem == "" || t.structure.repaired || t.err.SideEffects || !t.timeFor(t.took) {
		return false
	}
	req := t.req
	if o := &req.Options; req.Session != "" || o.SessionID != "" || o.Continue { // the CLI has counted on
		req.Session = cmp.Or(t.resp.Session, req.Session)
		o.SessionID, o.Continue = "", false
	}
	req.Messages = append(slices.Clone(req.Messages),
		Message{Role: RoleAssistant, Content: t.err.Partial},
		Message{Role: RoleUser, Content: structured.Complaint(t.structure.problem)})
	inv, err := t.p.prepare(ctx, req, mode{output: t.inv.Call.Output}, true)
	if err != nil {
		return false
	}
	t.req, t.inv, t.structure.repaired = req, inv, true
	return true
}
