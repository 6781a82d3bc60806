package main

import (
	"context"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// app is what the command sees of the world.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, a *app, args []string) int {
	root := a.root()
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
  clichain ask "Explain this repo"   the answer, from whoever can give it`,
		Version:       version(),
		SilenceErrors: true, // report prints them
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%v (see %s --help)", err, cmd.CommandPath())
	})
	root.AddCommand(a.askCommand(), a.doctorCommand(), a.specsCommand(), a.demoCommand())
	return root
}

// version is the module's version where the program was installed by it, else
// the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}

// isTerminal reports whether a stream is a terminal; what is no file is none.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns is the width to write for.
func columns(w io.Writer) int {
	const common, most = 80, 110
	f, ok := w.(*os.File)
	if !ok {
		return common
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return common
	}
	return min(width, most)
}
