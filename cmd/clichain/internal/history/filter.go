// Package history prints the calls that are in the log of this user.
package history

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/calllog"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/spf13/pflag"
)

// Filter has the flags that select calls.
type Filter struct {
	since                   since
	backend, model, project string
	reason                  clichain.Reason
	failed                  bool
}

// RegisterSince declares --since.
func (f *Filter) RegisterSince(flags *pflag.FlagSet) {
	flags.Func("since", "`time`: calls since a date, or in a duration such as 36h or 7d until now (default all)",
		param.Into(&f.since, parseSince))
}

// Register declares all flags.
func (f *Filter) Register(flags *pflag.FlagSet) {
	f.RegisterSince(flags)
	flags.StringVar(&f.backend, "backend", "", "calls that the backend with this `name` answered or failed last")
	flags.StringVar(&f.model, "model", "", "calls of this `model`")
	flags.Func("reason", "calls that failed for this `reason`, or ok for answered calls",
		param.Into(&f.reason, param.OneOf(append(call.Reasons(), calllog.Answered)...)))
	flags.BoolVar(&f.failed, "failed", false, "only calls that failed")
	flags.StringVar(&f.project, "project", "", "calls for this `directory` and those below it")
}

// records returns the filter of the log.
func (f *Filter) records(now time.Time) (calllog.Filter, error) {
	out := calllog.Filter{
		Since: f.since.at(now), Backend: f.backend, Model: f.model, Reason: f.reason, Failed: f.failed,
	}
	if f.project == "" {
		return out, nil
	}
	var err error
	if out.Project, err = filepath.Abs(f.project); err != nil {
		return out, console.Usagef("--project: %v", err)
	}
	return out, nil
}

// each calls use for each selected record, until use returns an error. It prints a warning if lines are damaged.
func each(r *selection.Resolver, f calllog.Filter, use func(calllog.Record) error) error {
	log, err := r.CallLog()
	if err != nil {
		return err
	}
	damaged := 0
	for record, err := range log.Records(f) {
		if _, unreadable := errors.AsType[*fs.PathError](err); unreadable {
			return console.Fail(console.ExitFailed, err)
		}
		if err != nil {
			if damaged++; damaged == 1 {
				fmt.Fprintf(r.Err, "clichain: warning: %s; see `clichain usage --verify`\n", terminal.OneLine(err.Error()))
			}
			continue
		}
		if err := use(record); err != nil {
			return err
		}
	}
	return nil
}

// nothing explains an empty output.
func (f *Filter) nothing() string {
	if *f != (Filter{}) {
		return "No logged call matches the flags.\n"
	}
	return nothingLogged
}

const nothingLogged = `No calls are logged.
Set "usage.log" to on to log each call: clichain config set usage.log on
`
