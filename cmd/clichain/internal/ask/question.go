package ask

import (
	"context"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/request"
)

// question is a request whose prompt has not been read yet.
type question struct {
	source *request.PromptSource
	req    clichain.Request
}

// newQuestion makes the request of the flags and checks it, before stdin is read or a process is started.
func newQuestion(ctx context.Context, env *console.Env, f *param.Values, args []string) (q question, err error) {
	if q.source, err = request.NewPromptSource(env, f, args); err != nil {
		return q, err
	}
	if q.req, err = request.Of(f); err != nil {
		return q, err
	}
	return q, request.Check(ctx, q.req)
}

// read reads the prompt and returns the request with it.
func (q question) read(ctx context.Context) (clichain.Request, error) {
	prompt, err := q.source.Read(ctx)
	return with(q.req, prompt), err
}

// with returns a request with its prompt.
func with(req clichain.Request, prompt string) clichain.Request {
	req.Messages = append(slices.Clip(req.Messages), clichain.Message{Role: clichain.RoleUser, Content: prompt})
	return req
}
