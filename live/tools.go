package live

import (
	"context"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/held"
)

// offer returns the context of a call with the functions of the session.
func (s *Session) offer(ctx context.Context) (_ context.Context, end func() error, _ *clichain.BackendError) {
	if s.cfg.Tools == nil {
		return ctx, func() error { return nil }, nil
	}
	ctx, end, err := s.cfg.Tools.Begin(ctx)
	if err != nil {
		return nil, nil, call.AsError(s.provider.Name(), err)
	}
	return ctx, end, nil
}

// ask sends the request of a turn to the CLI. The functions of the session answer until the turn ends.
func (s *Session) ask(cli *held.CLI, turn *Turn) (*clichain.Response, *clichain.BackendError) {
	ctx, end, failed := s.offer(turn.ctx)
	if failed != nil {
		return nil, failed
	}
	resp, failed := s.reply(ctx, cli, turn)
	err := end()
	if err == nil {
		return resp, failed
	}
	turn.stop(err) // the CLI has not failed
	if failed == nil {
		failed = &clichain.BackendError{
			Backend: s.provider.Name(), Reason: clichain.ReasonCanceled, ExitCode: -1, Err: err, Partial: resp.Text,
			Usage: resp.Usage, SideEffects: call.HostToolsOf(ctx).HaveActed(), Session: resp.Session,
			Stage: call.StageStarted,
		}
	}
	return nil, failed
}
