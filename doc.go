// Package clichain sends a prompt to whichever AI coding CLI is logged in on the machine.
//
// A [CliSpec] describes a CLI as data. A [Provider] runs the CLI as a subprocess. A [Chain] asks several backends in
// order until one answers:
//
//	chain := clichain.NewChain(specs.All(), nil)
//	resp, err := chain.Complete(ctx, clichain.Prompt("Name three uses of a paper clip."))
//
// Package specs has the specs of the supported CLIs, such as claude, gemini, cursor-agent, opencode and codex. You can
// write a spec for another CLI.
//
// # Failures
//
// A failed call of a chain returns a [*ChainError], which has the reason of every backend that was asked or skipped.
// Check for a reason with [errors.Is] and an Err value such as [ErrUsageLimit]. Get the details with [errors.AsType]
// and [BackendError]. A [Response] lists the attempts that failed before the answer.
//
// # Custom backends
//
// [BackendFunc] turns a function, such as a call of an API or a cache, into a backend:
//
//	api := clichain.BackendFunc("api", func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
//		return nil, fmt.Errorf("no key: %w", clichain.ErrUnauthenticated) // the chain asks its next backend
//	})
//	chain := clichain.ChainOf([]clichain.Backend{api, clichain.NewProvider(specs.Claude(), nil)}, nil)
//
// # Permissions of an agent
//
// With the zero [Access], the CLI returns text and uses no tools. The request must ask for every further permission. If
// an agent with write access has used a tool and then fails, the chain stops, because a retry could repeat the change.
//
// # Cancellation
//
// When the context is canceled, the call ends. Complete returns after the CLI and all of its descendants have ended.
// Config.Timeout limits each attempt, and ChainConfig.Budget limits the whole call.
package clichain
