package held

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/wire"
	"github.com/tidwall/gjson"
)

func (c *CLI) stdoutLine(line []byte) {
	if !c.conn.Line(line) {
		c.unnamed(line)
	}
}

// stderrLine reads a line of stderr. The line has no turn ID, and an earlier turn may have printed it late, so
// it is evidence only in the first turn of a process. Later turns of the same context include it in their
// errors. Turns of a later context drop it.
func (c *CLI) stderrLine(line []byte) {
	t := c.current()
	t.heard()
	if t.shared {
		return
	}
	t.mu.Lock()
	if t.errors.Len() < judge.MaxEvidence {
		t.errors.Write(line)
		t.errors.WriteByte('\n')
	}
	t.mu.Unlock()
	if !t.reading.DoubtStderr {
		t.read(t.stderr, line)
	}
}

func (c *CLI) current() *turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// noticed reads a line that is neither a request nor a response. A line of another context belongs to a turn
// that has ended.
func (c *CLI) noticed(_ string, line []byte) {
	if of := c.plan.Rules.Of; of != "" {
		id := gjson.GetBytes(line, of)
		switch {
		case !id.Exists():
			c.unnamed(line)
			return
		case !c.contexts.present(id.String()):
			return
		}
	}
	t := c.current()
	if of := c.turnOf(line); of != "" && (of == c.past() || !t.owns(of, line)) {
		return
	}
	t.feed(line)
}

// unnamed reads a line of stdout without a context ID. An earlier context may have printed it late, unless
// there was none or a barrier has drained its lines.
func (c *CLI) unnamed(line []byte) {
	t := c.current()
	if t.shared && len(c.plan.Rules.Barrier) == 0 {
		t.heard()
		return
	}
	t.feed(line)
}

// turnOf returns the turn ID of a line, or "" if the line has none.
func (c *CLI) turnOf(line []byte) string {
	if c.plan.Rules.OfTurn == "" {
		return ""
	}
	for _, path := range grammar.Alternatives(c.plan.Rules.OfTurn) {
		if id := gjson.GetBytes(line, path); id.Exists() {
			return id.String()
		}
	}
	return ""
}

// past returns the ID of the latest turn that has ended.
func (c *CLI) past() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Fresh replaces the context of the process with an empty one. If it returns an error, the process cannot be
// used any more.
func (c *CLI) Fresh(ctx context.Context) error {
	release, err := c.turns.Acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	old := c.contexts.current()
	if err := c.contexts.leave(); err != nil {
		return err
	}
	defer c.idle() // the first idle turn of the new context
	if err := c.renew(ctx, old); err != nil {
		return err
	}
	return c.sayAll(ctx, c.plan.Invocation.Call, c.plan.Rules.Barrier)
}

// renew opens a context and closes the old one, or clears the only context.
func (c *CLI) renew(ctx context.Context, old string) error {
	rules := c.plan.Rules
	if len(rules.Open) > 0 {
		if err := c.open(ctx, c.plan.Invocation.Call); err != nil {
			return err
		}
		_, err := c.say(ctx, c.plan.Invocation.Call, rules.Close, map[string]string{"context": old})
		return err
	}
	t := c.idle()
	if _, err := c.say(ctx, t.call, rules.Clear, nil); err != nil {
		return err
	}
	select {
	case <-t.done:
	case <-c.gone:
		return wire.ErrEnded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	// Some versions continue their counts after Clear, others restart them. The evidence shows which.
	total := t.reading.Evidence(proc.Result{TreeClean: true}, 0).Tally.Total()
	if used := session.Used(clispec.SessionRules{Cumulative: rules.Cumulative}, total); used != nil {
		c.used = *used
	}
	return nil
}

// interrupt tells the CLI to end a turn.
func (c *CLI) interrupt(ctx context.Context, t *turn) error {
	ids := map[string]string{"context": c.contexts.current(), "turn": t.name()}
	_, err := c.say(ctx, t.call, c.plan.Rules.Interrupt, ids)
	return err
}

// say sends the first message of a list that applies, and waits for its response.
func (c *CLI) say(
	ctx context.Context, composed *compose.Call, list []clispec.LiveMessage, more map[string]string,
) (json.RawMessage, error) {
	m, params, ok := composed.Message(list, more)
	switch {
	case !ok:
		return nil, nil
	case m.Notice:
		return nil, c.conn.Notify(ctx, m.Method, params)
	}
	result, err := c.conn.Call(ctx, m.Method, params)
	if refused, ok := errors.AsType[*wire.Error](err); ok {
		return nil, fmt.Errorf("%s: %w", m.Method, refused)
	}
	return result, err
}
