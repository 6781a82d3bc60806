package provider

import (
	"cmp"
	"context"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/structured"
)

// structure is the state of a call with a Request.Schema.
type structure struct {
	schema   *structured.Schema // nil: free text
	acted    bool               // a tool may have changed something
	problem  string             // with the last answer; empty: none
	repaired bool               // the model has been asked for a correction
}

// check replaces the text of an answer by its JSON, or returns why the answer does not meet the schema.
func (s *structure) check(resp *call.Response) *call.Error {
	var failed *call.Error
	if s.problem, failed = s.schema.Hold(resp); failed != nil {
		failed.SideEffects = s.acted
		return failed
	}
	if s.repaired {
		structured.Repaired(resp)
	}
	return nil
}

// repair prepares the attempt that asks for a correction. There is one at most, and none after a tool that may have
// changed something, or without time for a whole attempt.
func (t *attemptLoop) repair(ctx context.Context) bool {
	if t.err == nil || t.structure.problem == "" || t.structure.repaired || t.err.SideEffects || !t.timeFor(t.took) {
		return false
	}
	req := t.req
	if o := &req.Options; req.Session != "" || o.SessionID != "" || o.Continue { // the CLI has added to the session
		req.Session = cmp.Or(t.resp.Session, req.Session)
		o.SessionID, o.Continue = "", false
	}
	req.Messages = append(slices.Clone(req.Messages),
		call.Message{Role: call.RoleAssistant, Content: t.err.Partial},
		call.Message{Role: call.RoleUser, Content: structured.Complaint(t.structure.problem)})
	inv, err := t.p.prepare(ctx, req, mode{output: t.inv.Call.Output}, true)
	if err != nil {
		return false
	}
	t.req, t.inv, t.structure.repaired = req, inv, true
	return true
}
