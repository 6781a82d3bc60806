package history

import (
	"context"
	"fmt"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// Verify compares the log with its hashes and prints the result. It returns an error with console.ExitFailed if the log
// was changed.
func Verify(ctx context.Context, r *selection.Resolver, asJSON bool) error {
	log, err := r.CallLog()
	if err != nil {
		return err
	}
	report, err := log.Verify(ctx)
	if err != nil {
		return console.Fail(console.ExitFailed, fmt.Errorf("%w (the log is in %s)", err, log.Dir()))
	}
	if asJSON {
		err = r.PrintJSON(report)
	} else {
		p := console.NewPage(r.StyleOf(r.Out), console.LineWidth(r.Out))
		p.HangWhole("", fmt.Sprintf("%s in %s", console.Plural(int(report.Records), "record", "records"), log.Dir()),
			console.Plain)
		if report.Removed > 0 {
			p.Hang("", console.Plural(int(report.Removed), "earlier record", "earlier records")+
				" exceeded the limits of the log and were removed", console.Plain)
		}
		if report.Note != "" {
			p.Hang("note: ", report.Note, console.Plain)
		}
		for _, problem := range report.Problems {
			p.Hang("  ", terminal.OneLine(problem.String()), p.Red)
		}
		if len(report.Problems) == 0 {
			p.Line(p.Green("the log is unchanged"))
		}
		err = r.Print(p.String())
	}
	switch {
	case err != nil || len(report.Problems) == 0:
	case asJSON: // the report has the problems
		err = console.Fail(console.ExitFailed, nil)
	default:
		err = console.Fail(console.ExitFailed, fmt.Errorf("the log was changed: %s",
			console.Plural(len(report.Problems), "problem", "problems")))
	}
	return err
}
