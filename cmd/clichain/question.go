package main

import (
	"context"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/request"
)

// question is what to ask, and whom. The prompt has not been read yet.
type question struct {
	source   *request.PromptSource
	req      clichain.Request
	backends []clichain.Backend
}

// question finds every mistake that can be found before stdin is read or anything is started.
func (a *app) question(ctx context.Context, f *param.Values, args []string) (q question, err error) {
	if q.source, err = request.NewPromptSource(a.Env, f, args); err != nil {
		return q, err
	}
	if q.req, err = request.Of(f); err != nil {
		return q, err
	}
	if err = request.Check(ctx, q.req); err != nil {
		return q, err
	}
	q.backends, err = a.Providers(f)
	return q, err
}

// read is the request with its prompt.
func (q question) read(ctx context.Context) (clichain.Request, error) {
	prompt, err := q.source.Read(ctx)
	q.req.Messages = append(q.req.Messages, clichain.Message{Role: clichain.RoleUser, Content: prompt})
	return q.req, err
}
