package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/doctor"
)

// doctorFlags are what doctor can be asked for.
type doctorFlags struct {
	files                 []string
	json, markdown, hints bool
	probe, ping           bool
}

func (a *app) doctorCommand() *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what will work here, why not, and what to do",
		Long: `Look at each CLI: is it installed, is it logged in, who would pay, is it turned
off, what is to be done.

Nothing is started and nothing is sent, unless --probe asks each CLI for its
version and its login, or --ping makes one real call of each that seems ready.
Exit status: 0 when at least one is ready, else 3.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print the findings as JSON (docs/doctor.schema.json)")
	flags.BoolVar(&f.markdown, "markdown", false, "print them as Markdown, for the summary of a CI job")
	flags.BoolVar(&f.hints, "fix-hints", false, "print the commands that would mend what is wrong, as a script")
	flags.BoolVar(&f.probe, "probe", false, "also run each CLI's own commands for its version and login, all within 4s")
	flags.BoolVar(&f.ping, "ping", false, "also ask each that seems ready one short question, which costs what it costs")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "fix-hints")
	addSpecFlag(flags, &f.files)
	return cmd
}

func (a *app) doctor(ctx context.Context, f doctorFlags) error {
	all, err := a.loadSpecs(f.files)
	if err != nil {
		return err
	}
	report := diagnose(ctx, all, a.cooldowns(), f)
	if err := a.printReport(report, f); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &statusError{exitInterrupted, context.Cause(ctx)}
	}
	if report.Ready == 0 {
		return &statusError{status: exitNothing} // all is said
	}
	return nil
}

func diagnose(ctx context.Context, all []clichain.CliSpec, rests cooldown.Store, f doctorFlags) doctor.Report {
	var backends []clichain.Backend
	for _, spec := range all {
		backends = append(backends, clichain.NewProvider(spec, nil))
	}
	return doctor.Diagnose(ctx, backends, &doctor.Config{Probe: f.probe, Ping: f.ping, Store: rests})
}

func (a *app) printReport(report doctor.Report, f doctorFlags) error {
	text := ""
	switch {
	case f.json:
		return writeJSON(a.out, report, isTerminal(a.out))
	case f.markdown:
		text = markdownOf(report)
	case f.hints:
		text = fixesOf(report)
	default:
		text = tableOf(report, a.styleOf(a.out))
	}
	_, err := io.WriteString(a.out, text)
	return outputError(err)
}

// stateOf is the word for what would become of a call.
func stateOf(d doctor.Diagnosis) string {
	switch {
	case d.SuppressedBy != "":
		return "turned off"
	case d.Ready() && d.Login == clispec.LoginUnknown:
		return "maybe"
	case d.Ready():
		return "ready"
	}
	for _, p := range d.Problems {
		if p.Blocks() {
			return p.Code
		}
	}
	return string(clichain.ReasonNotInstalled)
}

// shared splits off the problems that several backends have alike: they are
// about the machine.
func shared(report doctor.Report) (machine []doctor.Problem, own map[string][]doctor.Problem) {
	count := map[doctor.Problem]int{}
	for _, d := range report.Backends {
		for _, p := range d.Problems {
			count[p]++
		}
	}
	own = map[string][]doctor.Problem{}
	for _, d := range report.Backends {
		for _, p := range d.Problems {
			switch n := count[p]; {
			case p.Blocks() || n == 1:
				own[d.Name] = append(own[d.Name], p)
			case n > 1:
				machine = append(machine, p)
				count[p] = 0 // told
			}
		}
	}
	return machine, own
}
