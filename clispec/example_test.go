package clispec_test

import (
	"fmt"

	"github.com/clichain/clichain/clispec"
)

// Name and Binary describe a simple CLI. Validate reports errors in a spec, here in the name.
func ExampleSpec_Validate() {
	spec := clispec.Spec{Name: "mycli", Binary: "mycli"}
	fmt.Println(spec.Validate())
	spec.Name = "My CLI"
	fmt.Println(spec.Validate() != nil)
	// Output:
	// <nil>
	// true
}

// ArgTable returns the arguments of a CLI that takes its prompt as "run PROMPT".
func ExampleSpec_ArgTable() {
	spec := clispec.Spec{Name: "mycli", Binary: "mycli", PromptStyle: clispec.RunSubcommand}
	for _, row := range spec.ArgTable() {
		fmt.Println(row.Args)
	}
	// Output:
	// [run]
	// [--model {model}]
	// [{extra}]
	// [{prompt}]
}
