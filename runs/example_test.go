package runs_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/runs"
	"github.com/clichain/clichain/specs"
)

// A "stop" button ends all calls of one chat.
func Example() {
	var registry runs.Registry
	provider := clichain.NewProvider(specs.Claude(), &clichain.Config{Registry: &registry})
	ask := func(chat string) error {
		ctx := runs.WithKey(context.Background(), chat, "answering")
		_, err := provider.Complete(ctx, clichain.Prompt("hello"))
		if errors.Is(err, runs.ErrAborted) {
			fmt.Println("stopped")
		}
		return err
	}
	_ = ask // a handler of the program calls ask, and another one stops the call:

	fmt.Println(registry.HasActive("chat-7"), registry.KillAll("chat-7"), registry.WasAborted("chat-7"))
	// Output: false 0 true
}
