package calllog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/calllog"
)

// A chain writes a record of each call, which the program reads later.
func Example() {
	dir, err := os.MkdirTemp("", "calllog")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	log, err := calllog.Open(filepath.Join(dir, "calls"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	backend := clichain.BackendFunc("cache",
		func(context.Context, clichain.Request) (*clichain.Response, error) {
			return &clichain.Response{Text: "42", Usage: call.Usage{OutputTokens: 1}}, nil
		})
	chain := clichain.ChainOf([]clichain.Backend{backend}, &clichain.ChainConfig{Hooks: log.Hooks()})
	if _, err := chain.Complete(context.Background(), clichain.Prompt("6 * 7?")); err != nil {
		fmt.Println(err)
		return
	}

	for r, err := range log.Records(calllog.Filter{Backend: "cache"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Backend, r.Usage)
	}
	report, err := log.Verify(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Records, "record,", len(report.Problems), "problems")
	// Output:
	// cache 1 output token
	// 1 record, 0 problems
}
