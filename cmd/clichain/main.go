// Command clichain asks the AI coding CLIs of this machine, one after the other
// until one answers.
package main

import (
	"context"
	"os"

	"github.com/clichain/clichain/clitest"
)

func main() {
	clitest.Main() // the fake CLIs of the demo are this very program
	ctx, stop := withSignals(context.Background())
	status := run(ctx, &app{os.Stdin, os.Stdout, os.Stderr, os.Getenv}, os.Args[1:])
	stop()
	os.Exit(status)
}
