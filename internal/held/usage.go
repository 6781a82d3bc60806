package held

import (
	"context"
	"time"
)

// UsageTime limits the wait for the usage windows after a turn. Tests change it.
var UsageTime = 250 * time.Millisecond

// askUsage asks the CLI for the usage windows of its plan after a turn that ended by itself and reported no used share.
// After a request without an answer, it asks no more.
func (c *CLI) askUsage(ctx context.Context, t *turn, cause error) {
	if !c.plan.Windows || c.mute || cause != nil || t.reading.KnowsUsed() {
		return
	}
	m, params, ok := t.call.Message(c.plan.Rules.Usage, map[string]string{"context": c.contexts.current()})
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, UsageTime)
	defer cancel()
	result, err := c.conn.Call(ctx, m.Method, params)
	if c.mute = err != nil; c.mute {
		return
	}
	t.read(t.stdout, response(m.Method, result, nil))
}
