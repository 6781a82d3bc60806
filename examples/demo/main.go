// Command demo shows a fallback chain at work on fake CLIs, which are built in. It needs no CLI, no login and no
// network:
//
//	go run ./examples/demo
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/demo"
)

func main() {
	fake.Main() // the fakes are this program
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := demo.Run(ctx, screen()); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func screen() demo.Screen {
	s := demo.Screen{Out: os.Stdout, Width: columns(os.Stdout)}
	s.Live = s.Width > 0 && os.Getenv("TERM") != "dumb"
	s.Color = s.Live && os.Getenv("NO_COLOR") == ""
	return s
}
