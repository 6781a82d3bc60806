// Owncli asks a CLI that has no built-in spec before the built-in ones. Its spec is a file that is part of the program.
// The command clichain also accepts such a file, with --spec or CLICHAIN_SPECS.
//
// The exit code is 0 with an answer, 1 without an answer, and 2 without a question.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

//go:embed lumen.yaml
var file []byte

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	if len(args) == 0 {
		_, _ = fmt.Fprintln(stderr, "usage: owncli QUESTION")
		return 2
	}
	own, err := specs.Load(bytes.NewReader(file))
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "lumen.yaml:", err)
		return 1
	}
	chain := clichain.NewChain(append(own, specs.All()...), nil)
	resp, err := chain.Complete(ctx, clichain.Prompt(strings.Join(args, " ")))
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	_, _ = fmt.Fprintln(stdout, resp.Text)
	_, _ = fmt.Fprintln(stderr, "answered by", resp.Backend)
	return 0
}
