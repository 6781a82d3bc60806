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

// stderrLine reads a line of stderr, which names no turn: an earlier turn may have
// printed it late. So it is evidence in the first turn of a process alone. Later turns of
// the same context show it in their errors; those of another context drop it.
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

// noticed reads a line that is neither a request nor a response. A line of another
// context belongs to a turn that has ended.
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

// unnamed reads a line of stdout that does not name its context. An earlier context may
// have printed it late, unless there was none or a barrier has drained its lines.
func (c *CLI) unnamed(line []byte) {
	t := c.current()
	if t.shared && len(c.plan.Rules.Barrier) == 0 {
		t.heard()
		return
	}
	t.feed(line)
}

// turnOf is the id of the turn that a line is about; "": it does not say.
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

// past is the id of the turn that has ended last.
func (c *CLI) past() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Fresh gives the process a context in which nothing was said, in place of the one it
// has. The error is why that failed; the process is of no more use then.
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
	defer c.idle() // a turn of the new context
	if err := c.renew(ctx, old); err != nil {
		return err
	}
	return c.sayAll(ctx, c.plan.Invocation.Call, c.plan.Rules.Barrier)
}

// renew opens a context and closes the old one, or clears the only one.
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
	// Some versions go on with their counts, others begin anew: this says which.
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
