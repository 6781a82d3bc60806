// Owncli asks a CLI that clichain does not know, described by a file, before those that it does. The file is part of
// the program; the command takes such a file as well, with --spec or CLICHAIN_SPECS.
//
// The exit status is 0 with an answer, 1 without, 2 where there is no question.
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
