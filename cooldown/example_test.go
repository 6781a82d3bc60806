package cooldown_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
)

// After a usage limit, later calls skip the backend. A File instead of the Memory shares the cooldowns with other
// processes of the user.
func Example() {
	limited := clichain.BackendFunc("work", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, clichain.ErrUsageLimit
	})
	chain := clichain.ChainOf([]clichain.Backend{limited}, &clichain.ChainConfig{Store: cooldown.NewMemory()})
	for range 2 {
		_, err := chain.Complete(context.Background(), clichain.Prompt("hello"))
		fmt.Println(errors.Is(err, clichain.ErrUsageLimit), errors.Is(err, clichain.ErrCoolingDown))
	}
	// Output:
	// true false
	// false true
}

// The cooldown doubles with each failure, up to Cap.
func ExampleRule() {
	rule := cooldown.Rule{Base: time.Minute, Cap: 5 * time.Minute}
	for failures := range 5 {
		fmt.Println(failures+1, rule.Length(failures+1))
	}
	// Output:
	// 1 1m0s
	// 2 2m0s
	// 3 4m0s
	// 4 5m0s
	// 5 5m0s
}
