package ask

import (
	"context"
	"iter"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/conversation"
)

// answerer answers a request.
type answerer interface {
	Complete(context.Context, clichain.Request) (*clichain.Response, error)
	Stream(context.Context, clichain.Request) iter.Seq2[clichain.Event, error]
}

// turns answers the last message of a request as a turn of a conversation, which has the other fields.
type turns struct{ *conversation.Conversation }

func (t turns) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return t.Send(ctx, req.Messages[len(req.Messages)-1].Content)
}

func (t turns) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return t.Conversation.Stream(ctx, req.Messages[len(req.Messages)-1].Content)
}

// of returns the answerer of the talk, which asks the chain.
func (t *talk) of(chain *clichain.Chain) (_ answerer, err error) {
	switch {
	case !t.records:
		return chain, nil
	case t.resumes:
		t.conv, err = t.entry.Load(chain, t.config())
	default:
		t.conv = conversation.New(chain, t.config())
	}
	return turns{t.conv}, err
}

// settle stores the talk after its answer or its failure. An answer that cannot be stored is only a warning.
func (t *talk) settle(ctx context.Context, resp *clichain.Response) {
	c := t.conv
	switch {
	case t.req.Options.NoSessionPersistence, c != nil && len(c.Messages()) == 0:
		return
	case c == nil && (resp == nil || resp.Session == ""):
		return
	case c == nil:
		c = conversation.New(nil, &conversation.Config{
			Request: clichain.Request{Session: resp.Session, Access: t.req.Access},
		})
	}
	if err := t.save(ctx, c); err != nil && (t.records || t.resumes) {
		t.note("warning: --continue will not know this answer: " + terminal.OneLine(err.Error()))
	}
}

// unlock lets other processes continue the conversation.
func (t *talk) unlock() {
	if t.entry != nil {
		t.entry.Unlock()
	}
}

func (t *talk) save(ctx context.Context, c *conversation.Conversation) error {
	if t.entry == nil {
		if _, err := t.tryLock(context.WithoutCancel(ctx), storeWait); err != nil {
			return err
		}
	}
	if t.failed != nil {
		return t.failed
	}
	return t.entry.Save(c)
}
