package ask

import (
	"context"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/request"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
)

// question is what to ask, and whom. The prompt has not been read yet.
type question struct {
	source    *request.PromptSource
	req       clichain.Request
	providers selection.Providers
}

// newQuestion finds every mistake that can be found before stdin is read or anything is started.
func newQuestion(
	ctx context.Context, r *selection.Resolver, f *param.Values, args []string,
) (q question, err error) {
	if q.source, err = request.NewPromptSource(r.Env, f, args); err != nil {
		return q, err
	}
	if q.req, err = request.Of(f); err != nil {
		return q, err
	}
	if err = request.Check(ctx, q.req); err != nil {
		return q, err
	}
	q.providers, err = r.Providers(f)
	return q, err
}

// read is the request with its prompt.
func (q question) read(ctx context.Context) (clichain.Request, error) {
	prompt, err := q.source.Read(ctx)
	q.req.Messages = append(q.req.Messages, clichain.Message{Role: clichain.RoleUser, Content: prompt})
	return q.req, err
}
