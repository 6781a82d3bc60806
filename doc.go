// Package clichain asks whichever AI coding CLI is logged in on the machine.
//
// A [CliSpec] describes a CLI as data, a [Provider] runs it, and a [Chain]
// tries several in order until one answers:
//
//	chain := clichain.NewChain(specs.All(), nil)
//	resp, err := chain.Complete(ctx, clichain.Prompt("Name three uses of a paper clip."))
//
// Package specs has the specs of claude, gemini, cursor-agent, opencode and
// codex; a spec of your own works the same way.
//
// # Failures
//
// A failed call returns an error that says of every backend why it did not
// answer: test for a cause with [errors.Is] and one of the Err values, look
// into it with [errors.AsType] and [BackendError]. A backend that was not even
// started (not installed, turned off with SKIP_CLI, no such model) is listed
// the same way. An answer carries the failed attempts before it.
//
// # Backends of your own
//
// [BackendFunc] makes a backend of a function, such as an API or a cache:
//
//	api := clichain.BackendFunc("api", func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
//		return nil, fmt.Errorf("no key: %w", clichain.ErrUnauthenticated) // the chain goes on
//	})
//	chain := clichain.ChainOf([]clichain.Backend{api, clichain.NewProvider(specs.Claude(), nil)}, nil)
//
// # What an agent may do
//
// The zero [Access] asks for text and nothing else. Everything more must be
// said in the request. After an agent has used a tool with write access a
// failure ends the chain, because asking again could do things twice.
//
// # Cancellation
//
// When the context ends, so does the call: the CLI and every process it has
// started are gone when Complete returns. Each attempt is bounded by
// Config.Timeout, the whole by ChainConfig.Budget.
package clichain
