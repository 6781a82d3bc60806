// Command clichain asks the AI coding CLIs of this machine, one after the other, until one answers. The exit status is
// 0 with an answer, 1 when every backend failed, 2 after a mistake in flags, environment or input, 3 when there is
// nothing to try, 124 when the time is over, 130 after Ctrl-C and 143 after SIGTERM. It uses public packages of the
// library only, and what it says about a CLI comes from the spec: no code but the demo's fakes may know one by name.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/cmd/clichain/internal/shim"
	"github.com/clichain/clichain/cmd/clichain/internal/version"
	_ "github.com/clichain/clichain/fullschema" // users bring schemas of any draft
	"github.com/spf13/cobra"
)

func main() {
	fake.Main() // the fake CLIs of the demo are this very program
	ctx, stop := withSignals(context.Background())
	status := run(ctx, &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv, shim: shim.Works}, os.Args[1:])
	stop()
	os.Exit(status)
}

// app holds the streams and the environment that the command uses; tests replace them.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	shim     bool // each CLI runs behind a shim

	from   settingsFlags
	chosen *chosen // by settings, at first need
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, a *app, args []string) int {
	root := a.root()
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		a.addCompletions(root) // which takes a moment that only a shell has use for
	}
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	return a.report(ctx, root.ExecuteContext(ctx), wantsJSON(args))
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
		Args:          commandsOnly,
		// A command that is as near as that to a mistyped one is suggested.
		SuggestionsMinimumDistance: 2,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n") // the first line of the command
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%v (see %s --help)", err, cmd.CommandPath())
	})
	settled := []*cobra.Command{
		a.askCommand(), a.buildCommand(), a.modelsCommand(), a.doctorCommand(), a.specsCommand(), a.batchCommand(),
		a.serveCommand(), a.workerCommand(), a.configCommand(),
	}
	for _, cmd := range settled {
		a.addSettingsFlags(cmd.Flags())
	}
	root.AddCommand(settled...)
	root.AddCommand(a.demoCommand(), a.cooldownsCommand(), a.versionCommand(), a.manCommand())
	root.AddCommand(a.submitCommand(), a.resultCommand(), a.statusCommand(), a.deadCommand())
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	return root
}

// commandsOnly refuses an argument that is no command, and says which command was probably meant.
func commandsOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if meant := cmd.SuggestionsFor(args[0]); len(meant) > 0 {
		return usagef("%s: did you mean %q? (see %s --help)", text, meant[0], cmd.CommandPath())
	}
	return usagef("%s (see %s --help; a question begins with \"clichain ask\")", text, cmd.CommandPath())
}

// signalError is the cause of the context after a signal.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "ended by a signal: " + e.signal.String() }

// status is what shells expect: 130 after Ctrl-C, 143 after SIGTERM.
func (e *signalError) status() int {
	if number, ok := e.signal.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return exitInterrupted
}

// withSignals ends the context at the first signal. Later signals are caught and ignored, because the library needs a
// moment, which is bounded, to end every process it started.
func withSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	// SIGPIPE is caught, because a reader that leaves would kill this process before it has cleaned up. It is not
	// ignored, because the CLIs would inherit that.
	watched := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		watched = append(watched, syscall.SIGHUP)
	}
	signal.Notify(signals, watched...)
	go func() {
		for s := range signals {
			if s != syscall.SIGPIPE {
				cancel(&signalError{s})
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}
