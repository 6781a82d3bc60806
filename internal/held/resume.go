package held

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/wire"
	"github.com/tidwall/gjson"
)

// ErrNotResumed is wrapped by the error of a CLI that does not resume a session.
var ErrNotResumed = errors.New("the session was not resumed")

// open begins an empty context, or resumes the session of the call.
func (c *CLI) open(ctx context.Context, composed *compose.Call) error {
	rules := c.plan.Rules
	if len(rules.Open) == 0 {
		return nil
	}
	id := composed.Resumed(rules)
	result, err := c.say(ctx, composed, composed.Begin(rules), nil)
	told := gjson.GetBytes(result, rules.Context).String()
	resumes := id != ""
	if resumes && err == nil && told != "" && told != id {
		err = &wire.Error{Message: "the CLI began session " + told + " instead of " + id}
	}
	switch {
	case err != nil && resumes:
		return fmt.Errorf("%w: %w", ErrNotResumed, err)
	case err != nil:
		return err
	}
	if err := c.contexts.opened(cmp.Or(id, told), resumes); err != nil {
		return err
	}
	return c.sayAll(ctx, composed, rules.Opened)
}

// early holds lines of the first turn after a resume. Some CLIs report earlier turns of the session first, so a
// line with a turn ID is kept until the ID of this turn is known. Guarded by the mu of the turn.
type early struct {
	waits bool
	lines [][]byte
}

// owns reports whether a line with a turn ID belongs to this turn.
func (t *turn) owns(id string, line []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.resumed:
		return true
	case !t.early.waits:
		return id == t.id
	case t.limit > 0 && t.size.Add(int64(len(line))) > t.limit:
		t.stop(proc.ErrOutputLimit)
	default:
		t.early.lines = append(t.early.lines, bytes.Clone(line))
	}
	return false
}

// named sets the ID that the CLI has given the turn, and returns the lines that were kept.
func (t *turn) named(id string) (kept [][]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.id, kept, t.early = id, t.early.lines, early{}
	t.resumed = t.resumed && id != ""
	if t.limit > 0 {
		for _, line := range kept {
			t.size.Add(-int64(len(line)))
		}
	}
	return kept
}
