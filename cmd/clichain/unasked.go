package main

import (
	"fmt"
	"slices"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/doctor"
)

// unasked are the specs whose program is installed, and which no call asks because nothing names them.
func (a *app) unasked(c catalog, asked []clichain.CliSpec, programs map[string]string) (list []clichain.CliSpec) {
	for _, spec := range c.all {
		p := clichain.NewProvider(spec, &clichain.Config{Binary: programs[spec.Name]})
		if indexOf(asked, spec.Name) < 0 && p.Status("").Path != "" {
			list = append(list, spec)
		}
	}
	return list
}

func unaskedText(name string) string {
	return name + " is installed, and asked only where it is named"
}

func unaskedHint(name string) string {
	return fmt.Sprintf("ask it with `clichain ask --only %s`, or name it in %s", name, orderVariable)
}

// codeUnasked is the doctor's remark about such a backend.
const codeUnasked = "unasked"

// remarkUnasked tells how to ask them. A call by itself would try none of them, so they do not count as ready.
func remarkUnasked(report *doctor.Report, unasked []clichain.CliSpec) {
	for i := range report.Backends {
		d := &report.Backends[i]
		if indexOf(unasked, d.Name) < 0 {
			continue
		}
		if d.Ready() {
			report.Ready--
		}
		unasked := doctor.Problem{Code: codeUnasked, Message: unaskedText(d.Name), Hint: unaskedHint(d.Name)}
		d.Problems = append(d.Problems, unasked)
	}
}

func isUnasked(d doctor.Diagnosis) bool { return hasProblem(d, codeUnasked) }

func hasProblem(d doctor.Diagnosis, code string) bool {
	return slices.ContainsFunc(d.Problems, func(p doctor.Problem) bool { return p.Code == code })
}

// countAsked is how many backends of the report a call may try.
func countAsked(report doctor.Report) (n int) {
	for _, d := range report.Backends {
		if !isUnasked(d) {
			n++
		}
	}
	return n
}
