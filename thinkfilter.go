package clichain

// commentary tells what an agent says about its work from its answer. Some
// CLIs print both as the same kind of text, and only what follows tells which
// it was: in front of a tool, or of another block of text, it was commentary.
// So text is held back until that is known. Commentary goes on as thinking:
// nothing is lost, and a reader of text gets the answer alone, the same that
// the tally takes for it with AnswerLastBlock.
type commentary struct{ held []Event }

// Add takes an event and returns those that a reader may see now. What says
// nothing about the text that is held overtakes it.
func (c *commentary) Add(e Event) []Event {
	switch {
	case e.Kind == EventDelta:
		c.held = append(c.held, e)
		return nil
	case e.Kind == EventText:
		out := c.End(false)
		c.held = append(c.held, e)
		return out
	case e.Kind == EventToolUse:
		return append(c.End(false), e)
	case e.Kind == EventResult && !e.Failed:
		return append(c.End(true), e)
	}
	return []Event{e}
}

// End releases what is held: the answer, or no more than commentary. A run
// that failed has no answer; its error carries the text.
func (c *commentary) End(answer bool) []Event {
	out := c.held
	c.held = nil
	if !answer {
		for i := range out {
			out[i].Kind = EventThinking
		}
	}
	return out
}
