package live_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

// fakeClaude installs a fake claude that stays running and gives the answers in turn. remove deletes it.
func fakeClaude(answers ...string) (path string, remove func()) {
	dir, err := os.MkdirTemp("", "clichain-example-")
	if err != nil {
		panic(err)
	}
	steps := []clitest.Step{{ReadLine: true}, {
		Stdout: `{"type":"control_response","response":{"subtype":"success","request_id":"clichain-1","response":{}}}` + "\n",
	}}
	for _, text := range answers {
		result := fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"result":%q}`+"\n", text)
		steps = append(steps, clitest.Step{ReadLine: true}, clitest.Step{Stdout: result})
	}
	path, err = clitest.Install(dir, "claude", clitest.Scenario{Steps: steps})
	if err != nil {
		panic(err)
	}
	return path, func() { _ = os.RemoveAll(dir) }
}

// A session asks two questions in one conversation with one process.
func ExampleSession() {
	path, remove := fakeClaude("Paris.", "About two million.")
	defer remove()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	session := live.New(clichain.NewProvider(specs.Claude(), &clichain.Config{Binary: path}), nil)
	defer session.Stop()
	if err := session.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"What is the capital of France?", "How many people live there?"} {
		resp, err := session.Ask(ctx, text)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(resp.Text)
	}
	// Output:
	// Paris.
	// About two million.
}

// A pool answers a call of a chain with a process that stays warm for the next call.
func ExamplePool() {
	path, remove := fakeClaude("Paris.")
	defer remove()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	claude := clichain.NewProvider(specs.Claude(), &clichain.Config{Binary: path})
	// With a Wait, the first call waits for the process instead of going cold.
	pool := live.NewPool([]*clichain.Provider{claude}, &live.PoolConfig{Wait: time.Minute})
	defer pool.Close()
	resp, err := clichain.ChainOf(pool.Backends(), nil).Complete(ctx, clichain.Prompt("What is the capital of France?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Text)
	fmt.Println("warm calls:", pool.Stats().Warm)
	// Output:
	// Paris.
	// warm calls: 1
}
