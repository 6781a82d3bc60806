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
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/shim"
	_ "github.com/clichain/clichain/fullschema" // users bring schemas of any draft
	"github.com/spf13/cobra"
)

func main() {
	fake.Main() // the fake CLIs of the demo are this very program
	ctx, stop := console.WithSignals(context.Background())
	env := &console.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Shim: shim.Works}
	status := run(ctx, env, os.Args[1:])
	stop()
	os.Exit(status)
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, env *console.Env, args []string) int {
	root := newRoot(env)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		addCompletions(env, root) // which takes a moment that only a shell has use for
	}
	root.SetArgs(args)
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	return env.Report(ctx, root.ExecuteContext(ctx), console.WantsJSON(args))
}
