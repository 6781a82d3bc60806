package order_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/order"
	"github.com/clichain/clichain/specs"
)

// A chain asks the fastest backend first.
func Example() {
	chain := clichain.NewChain(specs.All(), &clichain.ChainConfig{Order: order.Fastest})
	fmt.Println(len(chain.Backends()))
	// Output: 5
}

// A strategy can omit backends, here those that take more than a minute.
func ExampleStrategy() {
	quick := func(req clichain.Request, candidates []order.Candidate) []order.Candidate {
		slow := func(c order.Candidate) bool { return c.Duration > time.Minute }
		return order.StickySession(req, slices.DeleteFunc(candidates, slow))
	}
	for _, c := range quick(clichain.Prompt("hello"), []order.Candidate{
		{Name: "a", Place: 1, Duration: 2 * time.Minute},
		{Name: "b", Place: 2, Duration: 3 * time.Second},
	}) {
		fmt.Println(c.Name)
	}
	// Output: b
}
