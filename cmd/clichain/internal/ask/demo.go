package ask

import (
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/internal/demo"
	"github.com/spf13/cobra"
)

// NewDemo makes the command demo.
func NewDemo(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show a fallback chain on built-in fake CLIs",
		Long: `Show a fallback chain at work: one CLI is logged out, one has reached its usage
limit, one is not installed, one hangs, and one answers. The CLIs are fakes that
are built into this program; the chain, the specs and the processes are real.
The demo needs no CLI, uses no network and removes all its files.`,
		Example: `  clichain demo
  NO_COLOR=1 clichain demo
  clichain demo > demo.txt`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := demo.Run(cmd.Context(), demo.Screen{
				Out: env.Out, Width: console.Columns(env.Out), Live: env.Redraws(env.Out), Color: env.StyleOf(env.Out).On,
			})
			if err != nil {
				return console.Fail(console.ExitFailed, err)
			}
			return nil
		},
	}
}
