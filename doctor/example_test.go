package doctor_test

import (
	"context"
	"fmt"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/doctor"
)

// A program reports which backends work, and what the user can do about the others.
func ExampleDiagnose() {
	spec := clispec.Spec{
		Name: "mycli", Binary: "mycli-that-is-not-installed",
		Hints: map[clichain.Reason]string{clichain.ReasonNotInstalled: "install mycli"},
	}
	chain := clichain.NewChain([]clichain.CliSpec{spec}, nil)
	report := doctor.Diagnose(context.Background(), chain.Backends(), nil)
	fmt.Println("ready:", report.Ready)
	for _, backend := range report.Backends {
		for _, problem := range backend.Problems {
			if problem.Blocks() {
				fmt.Println(backend.Name, problem.Code, "-", problem.Hint)
			}
		}
	}
	// Output:
	// ready: 0
	// mycli not_installed - install mycli
}
