package clichain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

func Example() {
	_ = func(ctx context.Context) error {
		chain := clichain.NewChain(specs.All(), nil)
		resp, err := chain.Complete(ctx, clichain.Prompt("Name three uses of a paper clip."))
		if err != nil {
			return err // the reason of every backend; errors.Is(err, clichain.ErrRateLimited) finds each of them
		}
		fmt.Println(resp.Text)
		fmt.Println("answered by", resp.Backend, "after", len(resp.Attempts), "others")
		return nil
	}
}

// A function can be a backend, such as a cache that is asked first. If it has no answer, the chain asks the next
// backend.
func ExampleBackendFunc() {
	cache := map[string]*clichain.Response{"2+2?": {Text: "4"}}
	cached := clichain.BackendFunc("cache", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		if resp, ok := cache[req.Messages[0].Content]; ok {
			return resp, nil
		}
		return nil, fmt.Errorf("%w: not asked before", clichain.ErrUnsupported)
	})
	model := clichain.BackendFunc("model", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "5, I think"}, nil
	})
	chain := clichain.ChainOf([]clichain.Backend{cached, model}, nil)
	for _, question := range []string{"2+2?", "2+3?"} {
		resp, err := chain.Complete(context.Background(), clichain.Prompt(question))
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(resp.Text, "by", resp.Backend)
		for _, a := range resp.Attempts {
			fmt.Println("after", a.Err)
		}
	}
	// Output:
	// 4 by cache
	// 5, I think by model
	// after cache: unsupported: not asked before
}

// A check refuses an answer, and the chain asks the next backend.
func ExampleChainConfig_accept() {
	says := func(name, text string) clichain.Backend {
		return clichain.BackendFunc(name, func(context.Context, clichain.Request) (*clichain.Response, error) {
			return &clichain.Response{Text: text}, nil
		})
	}
	chain := clichain.ChainOf([]clichain.Backend{says("cheap", "TODO"), says("better", "func add(a, b int) int")},
		&clichain.ChainConfig{
			Accept: func(_ context.Context, _ clichain.Request, resp *clichain.Response) error {
				if !strings.HasPrefix(resp.Text, "func ") {
					return errors.New("no function")
				}
				return nil
			},
		})
	resp, err := chain.Complete(context.Background(), clichain.Prompt("Write add."))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Text, "by", resp.Backend)
	fmt.Println("after", resp.Attempts[0].Err)
	// Output:
	// func add(a, b int) int by better
	// after cheap: rejected: no function
}

// The error of a failed chain says for each backend why it did not answer.
func ExampleChainError() {
	_, err := clichain.NewChain(nil, nil).Complete(context.Background(), clichain.Prompt("hi"))
	if chain, ok := errors.AsType[*clichain.ChainError](err); ok {
		for _, a := range chain.Attempts {
			fmt.Println(a.Backend, a.Reason, a.Err)
		}
	}
	fmt.Println(err)
	// Output: clichain: no backends to try
}
