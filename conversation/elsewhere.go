package conversation

import (
	"cmp"
	"context"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// Request returns the settings with the messages and the sessions of the conversation, for a call or a live.Session
// that continues it elsewhere. During a turn it lacks the sessions that the turn may have changed.
func (c *Conversation) Request() clichain.Request {
	c.mu.Lock()
	h := c.history.uncertain(c.started)
	c.mu.Unlock()
	return h.request(c.cfg.Request)
}

// Add records a turn that continued the conversation elsewhere, such as in a live.Session: the text, and the answer or
// the failure of its backend. It waits for the current turn. It does not record which files an agent changed. The error
// is that of ctx, or bad_option if there is no text, or neither an answer nor a failure.
func (c *Conversation) Add(ctx context.Context, text string, resp *clichain.Response, failure error) error {
	if err := c.check(text); err != nil {
		return err
	}
	if resp == nil && failure == nil {
		return call.Errorf(clichain.ReasonBadOption, "response", "the turn has neither a response nor an error")
	}
	release, err := c.wait(ctx)
	if err != nil {
		return err
	}
	defer release()
	t := turn{Conversation: c}
	t.begin(ctx, text)
	if failure == nil {
		resp = resp.Clone()
		resp.Backend = cmp.Or(resp.Backend, c.backend.Name())
	}
	t.settle(resp, failure)
	return nil
}
