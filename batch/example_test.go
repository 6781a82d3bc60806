package batch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch"
)

// A function of this program answers a batch of two lines. A second run with the same output repeats no request.
func Example() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	asked := 0
	upper := clichain.BackendFunc("upper", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		asked++
		return &clichain.Response{Text: strings.ToUpper(req.Messages[0].Content)}, nil
	})
	for range 2 {
		s, err := batch.Run(context.Background(), &batch.Config{
			In: "-", Stdin: strings.NewReader(`{"id": "1", "prompt": "one"}` + "\n" + `{"id": "2", "prompt": "two"}` + "\n"),
			Out:      filepath.Join(dir, "out.jsonl"),
			Backends: []clichain.Backend{upper},
		})
		if err != nil {
			panic(err)
		}
		fmt.Println(s.Answered, "answered,", s.Failed, "failed,", asked, "asked")
	}
	// Output:
	// 2 answered, 0 failed, 2 asked
	// 2 answered, 0 failed, 2 asked
}
