package held

import (
	"context"

	"github.com/clichain/clichain/internal/lines"
)

// LeaveStuckTurns makes Ask return as soon as its context or a limit ends the turn, without waiting for the
// process to react. Such a process must be closed; Close interrupts the turn first. Call LeaveStuckTurns before
// the first Ask.
func (c *CLI) LeaveStuckTurns() { c.leaves = true }

// leave stops reading a turn that is still running in the process.
func (c *CLI) leave(t *turn) {
	t.lines.Lock()
	defer t.lines.Unlock()
	t.left = true
	c.stuck.Store(t)
}

// interruptStuck interrupts the turn that Ask has left, if any.
func (c *CLI) interruptStuck(ctx context.Context) {
	if t := c.stuck.Load(); t != nil {
		_ = c.interrupt(ctx, t) // the process may not react
	}
}

// read forwards a line, unless Ask has left the turn.
func (t *turn) read(stream *lines.Splitter, line []byte) {
	t.lines.Lock()
	defer t.lines.Unlock()
	if !t.left {
		stream.Line(line)
	}
}
