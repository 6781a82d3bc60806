package fullschema_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/clichain/clichain"
	_ "github.com/clichain/clichain/fullschema"
)

// A program that imports the package can use every keyword of every draft.
func Example() {
	model := clichain.BackendFunc("model", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: `{"cat": 1, "dog7": 2}`}, nil
	})
	req := clichain.Prompt("How many of each are there?")
	req.Schema = json.RawMessage(`{"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}`)
	_, err := clichain.ChainOf([]clichain.Backend{model}, nil).Complete(context.Background(), req)
	fmt.Println(err)
	// Output:
	// clichain: no backend answered (1 tried, 0 skipped)
	//   model  bad_output  the answer does not match the schema: at the top: 'dog7' does not match pattern '^[a-z]+$'
}
