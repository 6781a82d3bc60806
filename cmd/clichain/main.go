// Command clichain asks the AI coding CLIs of this machine, one after the other, until one answers. The exit status is
// 0 with an answer, 1 when every backend failed, 2 after a mistake in flags, environment or input, 3 when there is
// nothing to try, 124 when the time is over, 130 after Ctrl-C and 143 after SIGTERM. It uses public packages of the
// library only, and what it says about a CLI comes from the spec: no code but the demo's fakes may know one by name.
package main

import (
	"context"
	"os"
	"strings"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/cmd/clichain/internal/ask"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/inspect"
	"github.com/clichain/clichain/cmd/clichain/internal/queue"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/serving"
	"github.com/clichain/clichain/cmd/clichain/internal/shim"
	"github.com/clichain/clichain/cmd/clichain/internal/version"
	_ "github.com/clichain/clichain/fullschema" // users bring schemas of any draft
	"github.com/spf13/cobra"
)

func main() {
	fake.Main() // the fake CLIs of the demo are this very program
	ctx, stop := console.WithSignals(context.Background())
	env := &console.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Shim: shim.Works}
	status := run(ctx, newApp(env), os.Args[1:])
	stop()
	os.Exit(status)
}

// app holds what all commands share.
type app struct {
	*selection.Resolver
}

func newApp(env *console.Env) *app { return &app{selection.NewResolver(env)} }

// run executes one command line and returns the exit status.
func run(ctx context.Context, a *app, args []string) int {
	root := a.root()
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		addCompletions(a.Env, root) // which takes a moment that only a shell has use for
	}
	root.SetArgs(args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	return a.Report(ctx, root.ExecuteContext(ctx), console.WantsJSON(args))
}

func (a *app) root() *cobra.Command {
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
	settled := []*cobra.Command{
		inspect.NewModels(a.Resolver), inspect.NewDoctor(a.Resolver),
		inspect.NewSpecs(a.Resolver), serving.NewBatch(a.Resolver), serving.NewServe(a.Resolver),
		queue.NewWorker(a.Resolver), inspect.NewConfig(a.Resolver),
	}
	for _, cmd := range settled {
		a.AddFlags(cmd.Flags())
	}
	root.AddCommand(settled...)
	root.AddCommand(ask.NewAsk(a.Env), ask.NewBuild(a.Env), ask.NewDemo(a.Env))
	root.AddCommand(inspect.NewCooldowns(a.Resolver), inspect.NewVersion(a.Env), inspect.NewMan(a.Env))
	root.AddCommand(queue.NewSubmit(a.Env), queue.NewResult(a.Env), queue.NewStatus(a.Env), queue.NewDead(a.Env))
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	return root
}
