package specs_test

import (
	"fmt"
	"strings"

	"github.com/clichain/clichain/specs"
)

// A file describes a CLI that is not built in.
func ExampleLoad() {
	list, err := specs.Load(strings.NewReader(`
name: mycli
binary: mycli
args:
  - args: [--model, '{model}']
    when: {set: [model]}
  - args: ['{prompt}']
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, spec := range list {
		fmt.Println(spec.Name, spec.Binary, len(spec.Args))
	}
	// Output: mycli mycli 2
}

// An error lists all errors in a file, each with its position.
func ExampleLoadError() {
	_, err := specs.Load(strings.NewReader("name: mycli\nbinry: mycli\n"))
	fmt.Println(err)
	// Output: specs: line 2:1: binry: unknown field; did you mean binary?
}
