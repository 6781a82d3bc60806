// Package copies has the flags of commands whose agents work in private copies of directories.
package copies

import (
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/accept"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/permit"
	"github.com/clichain/clichain/workspace"
	"github.com/spf13/pflag"
)

// Flags are the flags about a copy and its checks. The zero value checks nothing.
type Flags struct {
	checks, carry []string
	timeout       time.Duration
	isolated      bool
}

// Register declares the flags.
func (f *Flags) Register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.checks, "check", nil,
		"`command` that must succeed in the changed copy, without a shell (repeatable)")
	flags.Func("check-timeout", "`duration`: limit of each check (default 10m)", param.Into(&f.timeout, param.Duration))
	flags.StringArrayVar(&f.carry, "carry", nil,
		"ignored `file` or directory to copy too, such as node_modules (repeatable)")
	flags.BoolVar(&f.isolated, "assume-isolated", false,
		"the next CLI may follow an agent that nothing confined, because this machine is a sandbox")
}

// Config returns the configuration of the backends.
func (f *Flags) Config() (*workspace.Config, error) {
	cfg := &workspace.Config{Carry: f.carry, CheckTimeout: f.timeout, AssumeIsolated: f.isolated}
	for _, text := range f.checks {
		words, err := accept.Split(text)
		if err != nil {
			return nil, console.Usagef("--check: %v", err)
		}
		cfg.Checks = append(cfg.Checks, words)
	}
	return cfg, nil
}

// Wrap returns backends that work in copies.
func Wrap(backends []clichain.Backend, cfg *workspace.Config) []clichain.Backend {
	wrapped := make([]clichain.Backend, len(backends))
	for i, b := range backends {
		wrapped[i] = workspace.New(b, cfg)
	}
	return wrapped
}

// Repos are the flags of commands that take requests of other people: the directories of which agents get copies. The
// zero value has no directory, and nothing works in a copy.
type Repos struct {
	Flags
	dirs []string
}

// Register declares the flags.
func (r *Repos) Register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&r.dirs, "repos", nil,
		"`directory`: requests with access write get a copy of it or of a directory below it (repeatable)")
	r.Flags.Register(flags)
}

// Any reports whether requests with AccessWrite work in copies.
func (r *Repos) Any() bool { return len(r.dirs) > 0 }

// Permit adds the directories and AccessWrite to permissions. It rejects flags that have no effect without --repos.
func (r *Repos) Permit(p *permit.Permissions) error {
	if !r.Any() {
		for flag, given := range map[string]bool{
			"check": len(r.checks) > 0, "carry": len(r.carry) > 0, "check-timeout": r.timeout > 0, "assume-isolated": r.isolated,
		} {
			if given {
				return console.Usagef("--%s: needs --repos, because only --repos makes copies", flag)
			}
		}
		return nil
	}
	if p.Access > clichain.AccessWrite {
		return console.Usagef("--repos: a copy does not hold back an agent with access full: permit at most access write")
	}
	p.Access = clichain.AccessWrite
	p.Dirs = append(p.Dirs, r.dirs...)
	return nil
}
