// Command clichain asks the AI coding CLIs of this machine in order until one answers. "clichain help exit-codes" lists
// its exit codes. It uses only public packages of the library. Its knowledge about CLIs comes from the specs: only the
// fakes of the demo name a CLI.
package main

import (
	"context"
	"os"
	"strings"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/shim"
	_ "github.com/clichain/clichain/fullschema" // supports schemas of any draft
	"github.com/spf13/cobra"
)

func main() {
	fake.Main() // this program is also the fake CLIs of the demo
	ctx, stop := console.WithSignals(context.Background())
	env := &console.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Shim: shim.Works}
	status := run(ctx, env, os.Args[1:])
	stop()
	os.Exit(status)
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, env *console.Env, args []string) int {
	root := newRoot(env)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		addCompletions(env, root) // only a shell needs them, and they take time
	}
	root.SetArgs(args)
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	return env.Report(ctx, root.ExecuteContext(ctx), console.WantsJSON(args))
}
