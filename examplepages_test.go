package clichain_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clichain/clichain"
)

// These examples stand on pages. Tests in internal/repo compare them.

// The example of docs/how-to/structured.md.
func ExampleCompleteAs() {
	ctx, chain := context.Background(), clichain.ChainOf(nil, nil)

	type city struct {
		Name   string    `json:"name" jsonschema:"in English"`
		Size   string    `json:"size" jsonschema:"enum=small,enum=large"`
		People int       `json:"people"`
		River  *string   `json:"river"` // null if unknown
		Since  time.Time `json:"since"`
	}
	answer, resp, err := clichain.CompleteAs[city](ctx, chain, clichain.Prompt("What is the capital of France?"))

	fmt.Println(answer.Name, resp, err)
	// Output: <nil> clichain: no backends to try
}

// explain is the snippet of docs/reference/errors.md.
func explain(err error) {
	if errors.Is(err, clichain.ErrUsageLimit) {
		fmt.Println("at least one plan is used up")
	}
	chain, ok := errors.AsType[*clichain.ChainError](err)
	if !ok {
		return
	}
	fmt.Println("class:", chain.Reason(), "tried any:", chain.Tried())
	for _, a := range chain.Attempts {
		fmt.Println(a.Backend, a.Reason, a.Skipped, a.Duration)
		if be, ok := errors.AsType[*clichain.BackendError](a.Err); ok && be.Hint != "" {
			fmt.Println("  to do:", be.Hint)
		}
	}
}

func ExampleBackendError() {
	explain(&clichain.ChainError{Attempts: []clichain.Attempt{
		{Backend: "a", Reason: clichain.ReasonUsageLimit, Duration: time.Second, Err: &clichain.BackendError{Reason: clichain.ReasonUsageLimit, Hint: "wait"}},
	}})
	// Output:
	// at least one plan is used up
	// class: usage_limit tried any: true
	// a usage_limit false 1s
	//   to do: wait
}

// snippetError is a snippet of docs/explanation/cooldowns.md.
func snippetError(err error) {
	if errors.Is(err, clichain.ErrCoolingDown) {
		be, _ := errors.AsType[*clichain.BackendError](err)
		fmt.Println("again at", be.RetryAfter)
	}
}

func ExampleErrCoolingDown() {
	at := time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)
	limited := clichain.BackendFunc("a", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &clichain.BackendError{Reason: clichain.ReasonUsageLimit, RetryAfter: time.Now().Add(time.Hour)}
	})
	c := clichain.ChainOf([]clichain.Backend{limited}, nil)
	for range 2 {
		_, err := c.Complete(context.Background(), clichain.Prompt("hi"))
		fmt.Println("in cooldown:", errors.Is(err, clichain.ErrCoolingDown))
	}
	snippetError(&clichain.BackendError{Reason: clichain.ReasonCoolingDown, RetryAfter: at})
	// Output:
	// in cooldown: false
	// in cooldown: true
	// again at 2026-11-21 15:00:00 +0000 UTC
}
