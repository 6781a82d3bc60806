package permit_test

import (
	"fmt"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/permit"
)

// An operator permits questions to two models, and nothing else.
func Example() {
	permissions := permit.Permissions{Models: []string{"sonnet", "gemini-2.5-*"}}
	req := clichain.Prompt("hello")
	req.Model = "gemini-2.5-pro"
	if _, err := permissions.Apply(req); err == nil {
		fmt.Println("permitted")
	}
	req.Access = clichain.AccessWrite
	_, err := permissions.Apply(req)
	fmt.Println(err)
	// Output:
	// permitted
	// permission_refused (access): write is more than none [the operator can allow it with Permissions.Access]
}
