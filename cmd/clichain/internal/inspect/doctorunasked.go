package inspect

import (
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/doctor"
)

// CodeUnasked is the code of the remark about an installed backend that calls do not try.
const CodeUnasked = "unasked"

// remarkUnasked adds a hint to the backends that calls do not try by default. They do not count as ready.
func remarkUnasked(report *doctor.Report, unasked []clichain.CliSpec) {
	for i := range report.Backends {
		d := &report.Backends[i]
		if selection.IndexOf(unasked, d.Name) < 0 {
			continue
		}
		if d.Ready() {
			report.Ready--
		}
		unasked := doctor.Problem{Code: CodeUnasked, Message: selection.UnaskedText(d.Name),
			Hint: selection.UnaskedHint(d.Name)}
		d.Problems = append(d.Problems, unasked)
	}
}

func isUnasked(d doctor.Diagnosis) bool { return hasProblem(d, CodeUnasked) }

func hasProblem(d doctor.Diagnosis, code string) bool {
	return slices.ContainsFunc(d.Problems, func(p doctor.Problem) bool { return p.Code == code })
}

// countAsked returns the number of backends that a call may try.
func countAsked(report doctor.Report) (n int) {
	for _, d := range report.Backends {
		if !isUnasked(d) {
			n++
		}
	}
	return n
}
