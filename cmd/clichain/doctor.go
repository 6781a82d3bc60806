package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/doctor"
	"github.com/spf13/cobra"
)

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	files                 []string
	json, markdown, hints bool
	probe, ping           bool
	programs              binaries
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
	flags.BoolVar(&f.hints, "fix-hints", false, "print the commands that would fix what is wrong, as a script")
	flags.BoolVar(&f.probe, "probe", false, "also run each CLI's own commands for its version and login, all within 4s")
	flags.BoolVar(&f.ping, "ping", false, "also ask each that seems ready one short question, which costs what it costs")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "fix-hints")
	addSpecFlag(flags, &f.files)
	addBinaryFlag(flags, &f.programs)
	return cmd
}

func (a *app) doctor(ctx context.Context, f doctorFlags) error {
	all, err := a.loadSpecs(f.files)
	if err == nil {
		err = known("--binary", f.programs, all)
	}
	if err != nil {
		return err
	}
	cfg := &doctor.Config{Probe: f.probe, Ping: f.ping, Store: a.cooldowns()}
	report := doctor.Diagnose(ctx, f.programs.providers(all, nil, clichain.Config{}), cfg)
	if err := a.printReport(report, f); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &statusError{exitInterrupted, context.Cause(ctx)}
	}
	if report.Ready == 0 {
		return &statusError{status: exitNothing} // the report says why
	}
	return nil
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

var (
	// quoted matches a command within a hint.
	quoted = regexp.MustCompile("`([^`]+)`")
	// bare matches a hint that is a command as a whole.
	bare = regexp.MustCompile(`^(npm|unset|export|brew|curl) \S`)
)

// fixesOf is a script with the commands that fix what keeps backends from answering. The problems, and hints that are
// no commands, are comments in it.
func fixesOf(report doctor.Report) string {
	var b strings.Builder
	for _, d := range report.Backends {
		for _, p := range d.Problems {
			if !p.Blocks() {
				continue
			}
			fmt.Fprintf(&b, "# %s: %s\n", oneLine(d.Name), oneLine(p.Message))
			for _, line := range commandsOf(oneLine(p.Hint)) {
				fmt.Fprintln(&b, line)
			}
		}
	}
	return b.String()
}

func commandsOf(hint string) (lines []string) {
	if bare.MatchString(hint) {
		return []string{hint}
	}
	for _, m := range quoted.FindAllStringSubmatch(hint, -1) {
		lines = append(lines, m[1])
	}
	if hint != "" && (len(lines) == 0 || quoted.ReplaceAllString(hint, "") != "run ") {
		lines = append(lines, "# "+hint)
	}
	return lines
}
