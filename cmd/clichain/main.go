// Command clichain asks the AI coding CLIs of this machine, one after the other
// until one answers.
//
//	clichain demo              the whole chain on built-in fakes
//	clichain doctor            what works on this machine, and why not
//	clichain ask PROMPT        the answer, from whoever can give it
//	clichain specs [NAME]      what it knows about each CLI, as data
//
// Answers go to stdout, everything else to stderr. The exit status is 0 when
// there is an answer, 1 when every backend failed, 2 after a mistake in flags,
// environment or input, 3 when there is nothing to try, 124 when the time is
// over, and 130 after Ctrl-C (143 after SIGTERM).
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
