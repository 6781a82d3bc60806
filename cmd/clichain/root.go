package main

import (
	"github.com/clichain/clichain/cmd/clichain/internal/ask"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/history"
	"github.com/clichain/clichain/cmd/clichain/internal/inspect"
	"github.com/clichain/clichain/cmd/clichain/internal/mcpserver"
	"github.com/clichain/clichain/cmd/clichain/internal/queue"
	"github.com/clichain/clichain/cmd/clichain/internal/serving"
	"github.com/clichain/clichain/cmd/clichain/internal/setup"
	"github.com/clichain/clichain/cmd/clichain/internal/usage"
	"github.com/clichain/clichain/cmd/clichain/internal/version"
	"github.com/spf13/cobra"
)

// newRoot makes the command clichain with all its commands.
func newRoot(env *console.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "clichain",
		Short: "Ask AI coding CLIs in order until one answers",
		Long: `clichain sends a prompt to the AI coding CLIs that you are logged in to, one
after the other, until one answers. Every process that a call started has ended
when the call returns.`,
		Example: `  clichain demo
  clichain doctor
  clichain ask "Explain this repository"`,
		Version:                    version.Read().Version,
		SilenceErrors:              true, // console.Env.Report prints them
		SilenceUsage:               true,
		Args:                       console.CommandsOnly,
		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetUsageFunc(console.Usage)
	root.SetFlagErrorFunc(console.FlagError)
	console.AddGroup(root, console.CommandsAsk, ask.NewAsk(env), ask.NewWork(env), ask.NewBuild(env), ask.NewDemo(env))
	console.AddGroup(root, console.CommandsInspect,
		inspect.NewDoctor(env), inspect.NewModels(env), inspect.NewSpecs(env), inspect.NewCooldowns(env),
		usage.NewUsage(env), history.NewLog(env))
	console.AddGroup(root, console.CommandsQueue, serving.NewBatch(env), queue.New(env), queue.NewWorker(env))
	console.AddGroup(root, console.CommandsServe, serving.NewServe(env), mcpserver.NewMCP(env))
	root.SetHelpCommandGroupID(console.CommandsSetup)
	help := setup.NewHelp()
	root.SetHelpCommand(help)
	console.AddGroup(root, console.CommandsSetup,
		inspect.NewConfig(env), setup.NewCompletion(env), inspect.NewMan(env), inspect.NewVersion(env), help)
	root.AddCommand(setup.NewTopics()...)
	return root
}
