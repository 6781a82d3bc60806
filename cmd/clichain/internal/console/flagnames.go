package console

import (
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
)

// FlagWords says in the words of the command line what the library says in those of Go.
var FlagWords = strings.NewReplacer(
	"set Config.TrustDir (--trust-dir)", "use --trust-dir",
	"Config.PassEnv or --pass-env", "--pass-env",
	"add the name to Config.RequestEnv, or set the variable with Config.Env", "let the worker --permit env=NAME",
	"let Config.Sandbox be SandboxOff to try all the same", "--sandbox off tries all the same",
	"Config.Sandbox", "--sandbox",
	"leave Config.Billing empty", "use --billing any",
	"Config.Billing", "--billing",
	"Options.MCPConfig", "--mcp-config",
	"continue it with AccessNone", "continue it without --access",
	"set Dir, with AccessRead (or more)", "set --dir, with --access read (or more)",
	"let Access be AccessRead (or more)", "use --access read (or more)",
	"leave Dir empty", "leave --dir out",
	"set one of session, options.continue and options.session_id", "give one of --session, --continue and --session-id",
)

// WithFlags is a failure in the words of the command line.
func WithFlags(err error) error {
	switch err := err.(type) {
	case *clichain.BackendError:
		be := *err
		be.Option, be.Message, be.Hint = param.FlagOf(be.Option), FlagWords.Replace(be.Message), FlagWords.Replace(be.Hint)
		return &be
	case *clichain.ChainError:
		chain := &clichain.ChainError{Cause: WithFlags(err.Cause), Note: err.Note}
		for _, a := range err.Attempts {
			a.Err = WithFlags(a.Err)
			chain.Attempts = append(chain.Attempts, a)
		}
		return chain
	}
	return err
}
