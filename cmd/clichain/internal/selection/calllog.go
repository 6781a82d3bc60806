package selection

import (
	"cmp"
	"fmt"
	"os"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/calllog"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/clichain/clichain/settings"
)

// CallLog returns the log of this user's calls, whether it is on or off.
func (r *Resolver) CallLog() (*calllog.Log, error) {
	s, err := r.Settings()
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(s.Invalid["usage.log"], s.Invalid["usage.content"]); err != nil {
		return nil, err
	}
	project, _ := os.Getwd() // without it, calls without a directory have no project
	log, err := calllog.Open("", &calllog.Config{
		Content: s.UsageContent == settings.On, Project: project, OnError: r.warnUnlogged,
	})
	if err != nil {
		return nil, console.Fail(console.ExitFailed, err)
	}
	return log, nil
}

// logHooks returns the hooks that log calls, or nil if the log is off. A log that cannot be used is only a warning.
func (r *Resolver) logHooks() (*clichain.Hooks, error) {
	s, err := r.Settings()
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(s.Invalid["usage.log"], s.Invalid["usage.content"]); err != nil {
		return nil, err
	}
	if s.UsageLog != settings.On {
		return nil, nil
	}
	log, err := r.CallLog()
	if err != nil {
		r.warnUnlogged(err)
		return nil, nil
	}
	return log.Hooks(), nil
}

func (r *Resolver) warnUnlogged(err error) {
	fmt.Fprintf(r.Err, "clichain: warning: calls are not logged: %s; see `clichain usage --verify`\n",
		terminal.OneLine(err.Error()))
}
