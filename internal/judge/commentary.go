package judge

import (
	"github.com/clichain/clichain/call"
)

// Commentary tells what an agent says about its work from its answer. Some
// CLIs print both as the same kind of text, and only what follows tells which
// it was: in front of a tool, or of another block of text, it was commentary.
// So text is held back until that is known. Commentary goes on as thinking:
// nothing is lost, and a reader of text gets the answer alone, the same that
// the tally takes for it with AnswerLastBlock.
type Commentary struct{ held []call.Event }

// Add takes an event and returns those that a reader may see now. What says
// nothing about the text that is held overtakes it.
func (c *Commentary) Add(e call.Event) []call.Event {
	switch {
	case e.Kind == call.EventDelta:
		c.held = append(c.held, e)
		return nil
	case e.Kind == call.EventText:
		out := c.End(false)
		c.held = append(c.held, e)
		return out
	case e.Kind == call.EventToolUse:
		return append(c.End(false), e)
	case e.Kind == call.EventResult && !e.Failed:
		return append(c.End(true), e)
	}
	return []call.Event{e}
}

// End releases what is held: the answer, or no more than commentary. A run
// that failed has no answer; its error carries the text.
func (c *Commentary) End(answer bool) []call.Event {
	out := c.held
	c.held = nil
	if !answer {
		for i := range out {
			out[i].Kind = call.EventThinking
		}
	}
	return out
}
