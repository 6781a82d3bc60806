package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/workspace"
)

// The first backend says that it is done, but the check fails in its copy. The second one delivers the changes.
func ExampleNew() {
	agent := func(name, text string) clichain.Backend {
		return clichain.BackendFunc(name, func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
			err := os.WriteFile(filepath.Join(req.Dir, "greeting"), []byte(text+"\n"), 0o600)
			return &clichain.Response{Text: "done"}, err
		})
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	cfg := &workspace.Config{
		Checks:         [][]string{{"grep", "-q", "hello", "greeting"}},
		AssumeIsolated: true, // these backends change nothing else
	}
	chain := clichain.ChainOf([]clichain.Backend{
		workspace.New(agent("first", "helo"), cfg), workspace.New(agent("second", "hello"), cfg),
	}, nil)
	req := clichain.Prompt("Write a greeting.")
	req.Access, req.Dir = clichain.AccessWrite, dir
	resp, err := chain.Complete(context.Background(), req)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Attempts[0].Backend, resp.Attempts[0].Reason)
	for _, file := range resp.Changes.Files {
		fmt.Println(resp.Backend, file.Kind, file.Path)
	}
	if err := workspace.Apply(context.Background(), dir, resp.Changes); err != nil {
		fmt.Println(err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "greeting")) // without the file, the text is empty
	fmt.Print(string(text))
	// Output:
	// first rejected
	// second added greeting
	// hello
}
