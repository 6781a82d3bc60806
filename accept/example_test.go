package accept_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/accept"
)

// The chain asks the next backend if the number is too large.
func ExampleAs() {
	says := func(name, text string) clichain.Backend {
		return clichain.BackendFunc(name, func(context.Context, clichain.Request) (*clichain.Response, error) {
			return &clichain.Response{Text: text}, nil
		})
	}
	chain := clichain.ChainOf([]clichain.Backend{says("first", "70"), says("second", "7")}, &clichain.ChainConfig{
		Accept: accept.As(func(_ context.Context, _ *clichain.Response, n int) error {
			if n > 10 {
				return errors.New("more than 10")
			}
			return nil
		}),
	})
	n, resp, err := clichain.CompleteAs[int](context.Background(), chain, clichain.Prompt("A number up to 10?"))
	fmt.Println(n, resp.Backend, err)
	fmt.Println(resp.Attempts[0].Err)
	// Output:
	// 7 second <nil>
	// first: rejected: more than 10
}
