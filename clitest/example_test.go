package clitest_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
)

// A fake that is logged out fails, and the chain falls back to a fake that answers. In a test, use Fake, which needs no
// directory and no cleanup.
func Example() {
	dir, err := os.MkdirTemp("", "fakes")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var backends []clichain.Backend
	add := func(spec clichain.CliSpec, s clitest.Scenario) {
		path, err := clitest.Install(dir, spec.Name, s)
		if err != nil {
			fmt.Println(err)
		}
		backends = append(backends, clichain.NewProvider(spec, &clichain.Config{Binary: path}))
	}
	first, second := specs.Claude(), specs.Codex()
	add(first, clitest.LoggedOut(first))
	add(second, clitest.Answer(second, "42"))

	chain := clichain.ChainOf(backends, nil)
	resp, err := chain.Complete(context.Background(), clichain.Prompt("What is six times seven?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, failed := range resp.Attempts {
		fmt.Println(failed.Backend, failed.Reason)
	}
	fmt.Println(resp.Backend, resp.Text)
	// Output:
	// claude unauthenticated
	// codex 42
}

// A recorded call is replayed without the backend. A test records only with a flag, and keeps the files in testdata.
func ExampleRecord() {
	dir, err := os.MkdirTemp("", "calls")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	model := clichain.BackendFunc("model", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "42"}, nil
	})
	req := clichain.Prompt("What is six times seven?")
	for _, backend := range []clichain.Backend{clitest.Record(dir, model), clitest.Replay(dir)} {
		resp, err := backend.Complete(context.Background(), req)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(resp.Text)
	}
	req = clichain.Prompt("What is six times nine?")
	_, err = clitest.Replay(dir).Complete(context.Background(), req)
	missed, _ := errors.AsType[*clitest.MissError](err)
	fmt.Print(missed.Diff)
	// Output:
	// 42
	// 42
	//       {
	//         "role": "user",
	// -       "content": "What is six times seven?"
	// +       "content": "What is six times nine?"
	//       }
	//     ]
}
