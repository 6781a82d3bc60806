// Batch sorts customer messages. It reads a JSON object with an id and a text from each line of stdin. It writes an
// object with the model's classification to each line of stdout, in the same order.
//
//	go run ./examples/batch -parallel 4 < messages.jsonl > sorted.jsonl
//
// It is a pipeline: one goroutine reads, several call the model, and one writes. At most -parallel messages are in
// flight. The command "clichain batch" can also resume after a kill.
//
// The exit code is 0 if all messages were sorted, 1 if some were not, and 2 if the program could not start.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

const maxLine = 1 << 20 // bytes

// message is a line of the input.
type message struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// kind is the classification of a message by the model.
type kind struct {
	Topic   string `json:"topic" jsonschema:"one word"`
	Urgent  bool   `json:"urgent" jsonschema:"the customer needs an answer today"`
	Summary string `json:"summary" jsonschema:"one sentence"`
}

// result is a line of the output.
type result struct {
	ID      string          `json:"id"`
	Kind    *kind           `json:"kind,omitempty"`
	Backend string          `json:"backend,omitempty"`
	Reason  clichain.Reason `json:"reason,omitempty"` // why the message was not sorted
	Error   string          `json:"error,omitempty"`
}

func main() {
	parallel := flag.Int("parallel", 4, "maximum number of CLIs at once; each takes 150 to 650 MB")
	flag.Parse()
	if *parallel < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "batch: -parallel must be at least 1, and messages come from stdin")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := sortAll(ctx, clichain.NewChain(specs.All(), nil), *parallel, os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "batch:", err)
		os.Exit(1)
	}
}

// errSome is the error if some lines of the output contain a reason.
var errSome = errors.New("some messages were not sorted: see the field reason")

// sortAll sorts the messages of in until its end, or until the context ends.
func sortAll(ctx context.Context, b clichain.Backend, parallel int, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pending, ended := make(chan chan result, parallel-1), make(chan error, 1)
	go func() {
		defer close(pending)
		ended <- read(ctx, b, in, pending)
	}()
	failed, encoder := false, json.NewEncoder(out)
	for {
		select {
		case next, ok := <-pending:
			if !ok {
				if err := <-ended; err != nil || !failed {
					return err
				}
				return errSome
			}
			r := <-next
			if err := encoder.Encode(r); err != nil {
				return err
			}
			failed = failed || r.Error != ""
		case <-ctx.Done(): // do not wait for a read of the input, which nothing can interrupt
			return context.Cause(ctx)
		}
	}
}

// read starts a call for each message, and passes on the channels of the results in order.
func read(ctx context.Context, b clichain.Backend, in io.Reader, pending chan<- chan result) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		next := make(chan result, 1)
		select {
		case pending <- next:
			go func() { next <- ask(ctx, b, m) }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return lines.Err()
}

// ask sorts one message.
func ask(ctx context.Context, b clichain.Backend, m message) result {
	r := result{ID: m.ID}
	k, resp, err := clichain.CompleteAs[kind](ctx, b, clichain.Prompt("Sort this message of a customer:\n\n"+m.Text))
	if err != nil {
		r.Error = err.Error()
		if chain, ok := errors.AsType[*clichain.ChainError](err); ok {
			r.Reason = chain.Reason()
		}
		return r
	}
	r.Kind, r.Backend = &k, resp.Backend
	return r
}
