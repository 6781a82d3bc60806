package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain"
	"github.com/spf13/cobra"
)

// checkup is what doctor found.
type checkup struct {
	Backends []patient `json:"backends"`
	Ready    int       `json:"ready"`
}

type patient struct {
	Name         string    `json:"name"`
	Installed    bool      `json:"installed"`
	Path         string    `json:"path"`
	Version      string    `json:"version,omitempty"`
	SuppressedBy string    `json:"suppressed_by"`
	Problems     []problem `json:"problems"`
}

type problem struct {
	Code    clichain.Reason `json:"code"`
	Message string          `json:"message"`
	Hint    string          `json:"hint"`
}

func (a *app) doctorCommand() *cobra.Command {
	var (
		files         []string
		asJSON, probe bool
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what will work here, why not, and what to do",
		Long: `Look at each CLI: is it installed, is it turned off, what is to be done.

Nothing is started, unless --probe asks each CLI for its version. Exit status: 0
when at least one is ready, else 3.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.doctor(cmd.Context(), files, asJSON, probe)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	cmd.Flags().BoolVar(&probe, "probe", false, "also run each CLI's --version, all within "+probeTime.String())
	addSpecFlag(cmd.Flags(), &files)
	return cmd
}

func (a *app) doctor(ctx context.Context, files []string, asJSON, probe bool) error {
	all, err := a.loadSpecs(files)
	if err != nil {
		return err
	}
	found := &checkup{Backends: make([]patient, len(all))}
	for i, spec := range all {
		found.Backends[i] = examine(ctx, spec)
	}
	if probe {
		probeAll(ctx, found.Backends)
	}
	for _, p := range found.Backends {
		if len(p.Problems) == 0 {
			found.Ready++
		}
	}
	if asJSON {
		err = writeJSON(a.out, found, isTerminal(a.out))
	} else {
		err = a.printCheckup(found)
	}
	if err == nil && ctx.Err() != nil {
		err = &statusError{exitInterrupted, context.Cause(ctx)}
	}
	if err == nil && found.Ready == 0 {
		err = &statusError{status: exitNothing} // all is said
	}
	return err
}

// examine looks at one CLI without starting it.
func examine(ctx context.Context, spec clichain.CliSpec) patient {
	p := patient{Name: spec.Name, Path: find(spec), Problems: []problem{}}
	p.Installed = p.Path != ""
	for _, name := range []string{spec.Name, spec.ProviderSlug} {
		if variable, ok := clichain.SuppressedBy(name); ok && p.SuppressedBy == "" {
			p.SuppressedBy = variable
		}
	}
	err := clichain.NewProvider(spec, nil).Available(ctx)
	if be, ok := errors.AsType[*clichain.BackendError](err); ok {
		p.Problems = append(p.Problems, problem{be.Reason, be.Message, be.Hint})
	}
	return p
}

// find looks where the provider does, also for a CLI that is turned off.
func find(spec clichain.CliSpec) string {
	for _, name := range append([]string{spec.Binary}, spec.AltBinaries...) {
		if path, err := exec.LookPath(name); err == nil && filepath.IsAbs(path) {
			return path
		}
	}
	return ""
}

func (a *app) printCheckup(found *checkup) error {
	s, names := a.styleOf(a.out), 0
	for _, p := range found.Backends {
		names = max(names, len(p.Name))
	}
	var b strings.Builder
	for _, p := range found.Backends {
		writePatient(&b, s, p, names)
	}
	fmt.Fprintf(&b, "\n%d of %d ready\n", found.Ready, len(found.Backends))
	_, err := fmt.Fprint(a.out, b.String())
	return outputError(err)
}

func writePatient(b *strings.Builder, s style, p patient, names int) {
	state, mark := s.green("ready"), s.green("✓")
	switch {
	case p.SuppressedBy != "":
		state, mark = s.dim("turned off"), s.dim("–")
	case len(p.Problems) > 0:
		state, mark = s.red(string(p.Problems[0].Code)), s.red("✗")
	}
	where := oneLine(strings.Join(strings.Fields(p.Path+" "+p.Version), " "))
	fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("%s %-*s  %s  %s", mark, names, p.Name, state, s.dim(where)), " "))
	for _, problem := range p.Problems {
		fmt.Fprintf(b, "  %*s  %s\n", names, "", oneLine(problem.Message))
		if problem.Hint != "" {
			fmt.Fprintf(b, "  %*s  → %s\n", names, "", oneLine(problem.Hint))
		}
	}
}
