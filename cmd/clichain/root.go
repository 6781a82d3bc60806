package main

import (
	"github.com/clichain/clichain/cmd/clichain/internal/ask"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/inspect"
	"github.com/clichain/clichain/cmd/clichain/internal/queue"
	"github.com/clichain/clichain/cmd/clichain/internal/serving"
	"github.com/clichain/clichain/cmd/clichain/internal/version"
	"github.com/spf13/cobra"
)

// newRoot makes the command clichain with all its commands.
func newRoot(env *console.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "clichain",
		Short: "Ask the AI coding CLIs of this machine until one answers",
		Long: `clichain asks the AI coding CLIs you are logged in to, one after the other,
until one answers. Nothing it starts is left behind.

  clichain demo                      the whole chain on built-in fakes
  clichain doctor                    what works on this machine, and why not
  clichain ask "Explain this repo"   the answer, from whoever can give it
  clichain batch -i in -o out        answers to a file of prompts
  clichain worker --nats URL         answers to a queue that machines share
  clichain serve                     answers to OpenAI clients on this machine`,
		Version:       version.Read().Version,
		SilenceErrors: true, // report prints them
		SilenceUsage:  true,
		Args:          console.CommandsOnly,
		// A command that is as near as that to a mistyped one is suggested.
		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n") // the first line of the command
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return console.Usagef("%v (see %s --help)", err, cmd.CommandPath())
	})
	root.AddCommand(
		ask.NewAsk(env), ask.NewBuild(env), ask.NewDemo(env),
		inspect.NewModels(env), inspect.NewDoctor(env), inspect.NewSpecs(env), inspect.NewConfig(env),
		inspect.NewCooldowns(env), inspect.NewVersion(env), inspect.NewMan(env),
		serving.NewBatch(env), serving.NewServe(env),
		queue.NewWorker(env), queue.NewSubmit(env), queue.NewResult(env), queue.NewStatus(env), queue.NewDead(env),
	)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	return root
}
