package cache_test

import (
	"context"
	"fmt"
	"os"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cache"
)

// The second call is answered from the cache. In a program, use a directory that stays, such as one below
// [os.UserCacheDir], and wrap a chain.
func Example() {
	dir, err := os.MkdirTemp("", "answers")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	model := clichain.BackendFunc("model", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "42"}, nil
	})
	answers, err := cache.Open(cache.Config{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	backend := answers.Backend(model)
	for range 2 {
		resp, err := backend.Complete(context.Background(), clichain.Prompt("What is six times seven?"))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(resp.Text, resp.Flags)
	}
	// Output:
	// 42 []
	// 42 [cached]
}
