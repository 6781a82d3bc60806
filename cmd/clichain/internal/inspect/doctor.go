// Package inspect has the commands that print what clichain finds and knows, and call no model.
package inspect

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/doctor"
	"github.com/spf13/cobra"
)

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	param.Values
	json, markdown, hints bool
	probe, ping           bool
}

// NewDoctor makes the command doctor.
func NewDoctor(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check which CLIs work and how to fix the others",
		Long: `Check for each CLI whether it is installed, logged in and enabled, who would
pay, and what to do if it does not work. By default, doctor starts no CLI and
sends nothing. --probe asks each CLI for its version and its login. --ping sends
one short question to each CLI that seems ready.`,
		Example: `  clichain doctor
  clichain doctor --probe --only codex,claude
  clichain doctor --fix-hints`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), r, f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print the report as JSON (docs/doctor.schema.json)")
	flags.BoolVar(&f.markdown, "markdown", false, "print the report as Markdown, for the summary of a CI job")
	flags.BoolVar(&f.hints, "fix-hints", false, "print a script with the commands that fix the problems")
	flags.BoolVar(&f.probe, "probe", false,
		"also ask each CLI for its version and login, for at least 4s")
	flags.BoolVar(&f.ping, "ping", false, "also send one short question to each CLI that seems ready (may cost money)")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "fix-hints")
	param.Pick(flags, &f.Values, "only", "spec", "binary")
	flags.Lookup("only").Usage = "check these backends in this order, `names` separated by commas"
	r.AddFlags(cmd.Flags())
	return cmd
}

// checkup is the report of the command doctor.
type checkup struct {
	doctor.Report
	Problems []doctor.Problem `json:"problems"` // of the settings; they prevent every call
	Settings settingsReport   `json:"settings"`
}

func runDoctor(ctx context.Context, r *selection.Resolver, f doctorFlags) error {
	found, err := examine(ctx, r, f)
	if err != nil {
		return err
	}
	if err := printCheckup(r, *found, f); err != nil {
		return err
	}
	return found.status(ctx)
}

// Checkup returns the report that "clichain doctor --json" prints about the backends of a command. It starts no CLI.
func Checkup(ctx context.Context, r *selection.Resolver, f param.Values) (any, error) {
	return examine(ctx, r, doctorFlags{Values: f})
}

func examine(ctx context.Context, r *selection.Resolver, f doctorFlags) (*checkup, error) {
	c, err := r.Catalog(f.SpecFiles)
	if err == nil {
		err = c.Known("--binary", maps.Keys(f.Binaries))
	}
	if err != nil {
		return nil, err
	}
	asked, problems, err := askedSpecs(r, c, f.Only)
	if err != nil {
		return nil, err
	}
	var unasked []clichain.CliSpec
	if len(f.Only) == 0 {
		unasked = c.Unasked(asked, f.Binaries)
	}
	if err := r.Settle(&f.Values); err != nil {
		return nil, err
	}
	found := checkup{Problems: problems}
	if found.Settings, err = NewSettingsReport(r, c); err != nil {
		return nil, err
	}
	cfg := &doctor.Config{Probe: f.probe, Ping: f.ping, Store: r.Cooldowns()}
	providers := selection.NewProviders(slices.Concat(asked, unasked), &f.Values)
	found.Report = doctor.Diagnose(ctx, providers.Backends(), cfg)
	adviseFlags(&found.Report)
	remarkUnasked(&found.Report, unasked)
	return &found, nil
}

// adviseFlags adds the advice of each problem to its hint, with the names of flags.
func adviseFlags(report *doctor.Report) {
	for _, d := range report.Backends {
		for i := range d.Problems {
			p := &d.Problems[i]
			p.Hint, p.Advice = call.JoinHint(p.Hint, p.Advice, console.AdviceText), nil
		}
	}
}

// askedSpecs returns the specs that a call would try. Unknown names in the order become problems.
func askedSpecs(
	r *selection.Resolver, c selection.Catalog, only []string,
) (list []clichain.CliSpec, problems []doctor.Problem, err error) {
	order, source, err := r.Order()
	if len(only) > 0 || len(order) == 0 || err != nil {
		list, err = r.Choose(c, only)
		return list, []doctor.Problem{}, err
	}
	list, unknown := c.Pick(order)
	problems = []doctor.Problem{}
	for _, name := range unknown {
		problems = append(problems, doctor.Problem{
			Code: string(clichain.ReasonBadOption), Message: c.Unknown(source, name).Error(),
			Hint: "correct the name; every call fails until then",
		})
	}
	return list, problems, nil
}

// status returns an error with the exit code and without a text, because the report has the reason.
func (found *checkup) status(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return console.Fail(console.ExitInterrupted, context.Cause(ctx))
	case len(found.Problems) > 0:
		return console.Fail(console.ExitUsage, nil)
	case found.Ready == 0:
		return console.Fail(console.ExitNothing, nil)
	}
	return nil
}

func printCheckup(r *selection.Resolver, found checkup, f doctorFlags) error {
	text := ""
	switch {
	case f.json:
		return r.PrintJSON(found)
	case f.markdown:
		text = markdownOf(found, time.Now())
	case f.hints:
		text = fixesOf(found.Report)
	default:
		text = doctorTable(found, r.StyleOf(r.Out), console.LineWidth(r.Out), time.Now())
	}
	return r.Print(text)
}

var (
	// quoted matches a command within a hint.
	quoted = regexp.MustCompile("`([^`]+)`")
	// bare matches a hint that is a command as a whole.
	bare = regexp.MustCompile(`^(npm|unset|export|brew|curl) \S`)
)

// fixesOf returns a script with the commands that fix the blocking problems. Problems, and hints without a command, are
// comments.
func fixesOf(report doctor.Report) string {
	var b strings.Builder
	for _, d := range report.Backends {
		for _, p := range d.Problems {
			if !p.Blocks() {
				continue
			}
			fmt.Fprintf(&b, "# %s: %s\n", terminal.OneLine(d.Name), terminal.OneLine(p.Message))
			for _, line := range commandsOf(terminal.OneLine(p.Hint)) {
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
