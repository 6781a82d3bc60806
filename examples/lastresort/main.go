// Lastresort asks the CLIs of this machine and, if none answers, an API. It shows how a program adds its own backend,
// made from a function. OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL select any service with the API of OpenAI.
//
// The exit code is 0 with an answer, 1 without an answer, and 2 without a question.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	question := strings.Join(args, " ")
	if question == "" {
		_, _ = fmt.Fprintln(stderr, "usage: lastresort QUESTION")
		return 2
	}
	resp, err := chain().Complete(ctx, clichain.Prompt(question))
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	for _, a := range resp.Attempts {
		if !a.Skipped {
			_, _ = fmt.Fprintln(stderr, "failed:", a.Err)
		}
	}
	_, _ = fmt.Fprintln(stdout, resp.Text)
	_, _ = fmt.Fprintln(stderr, "answered by", resp.Backend)
	return 0
}

// chain tries each CLI before the API.
func chain() *clichain.Chain {
	var backends []clichain.Backend
	for _, spec := range specs.All() {
		backends = append(backends, clichain.NewProvider(spec, nil))
	}
	a := &api{os.Getenv("OPENAI_BASE_URL"), os.Getenv("OPENAI_API_KEY"), os.Getenv("OPENAI_MODEL")}
	return clichain.ChainOf(append(backends, clichain.BackendFunc("api", a.complete)), nil)
}
