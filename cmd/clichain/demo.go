package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show the whole chain at work on built-in fake CLIs",
		Long: `Show the whole chain at work: one CLI is logged out, one at its limit, one is
not installed, one hangs, and one answers. They are fakes, built into this
program; the chain, the specs and the processes are real. It needs nothing
installed, reaches no network and leaves nothing behind.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context()) },
	}
}

func (a *app) demo(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "clichain-demo-")
	if err != nil {
		return &statusError{exitFailed, err}
	}
	defer func() {
		if removed := os.RemoveAll(dir); err == nil && removed != nil {
			err = &statusError{exitFailed, removed}
		}
	}()
	s := a.newStage()
	s.intro(unsuppress(specs.All()))
	backends, err := install(dir)
	if err != nil {
		return &statusError{exitFailed, fmt.Errorf("cannot set up the fakes: %w", err)}
	}
	start := time.Now()
	resp, err := s.perform(dir, clichain.ChainOf(backends, nil).Stream(ctx, clichain.Prompt(demoPrompt)))
	if err != nil {
		return &statusError{exitFailed, err}
	}
	return s.outro(resp, time.Since(start))
}

// perform shows a stream; the processes of each backend carry its path in dir.
func (s *stage) perform(dir string, events iter.Seq2[clichain.Event, error]) (*clichain.Response, error) {
	end := func(*clichain.BackendError) {}
	for e, err := range events {
		switch {
		case err != nil:
			return nil, err
		case e.Kind == clichain.EventStart:
			end = s.begin(e.Backend, filepath.Join(dir, e.Backend))
		case e.Kind == clichain.EventDone:
			end(nil)
			return e.Response, nil
		case e.Kind == clichain.EventAttempt && e.Attempt.Skipped:
			s.draw(rowOf(*e.Attempt))
		case e.Kind == clichain.EventAttempt:
			be, _ := errors.AsType[*clichain.BackendError](e.Attempt.Err)
			end(be)
		}
	}
	return nil, nil // a stream ends in an error or in EventDone
}

// unsuppress takes back, for this process, what turns CLIs off: nothing of the
// user's is going to be run.
func unsuppress(list []clichain.CliSpec) (variables []string) {
	for _, spec := range list {
		for _, name := range []string{spec.Name, spec.ProviderSlug} {
			for variable, ok := clichain.SuppressedBy(name); ok; variable, ok = clichain.SuppressedBy(name) {
				if os.Unsetenv(variable) != nil {
					break // it cannot fail for a name that was read
				}
				variables = append(variables, variable)
			}
		}
	}
	return variables
}

// install makes the backends of the demo: the real specs, on fakes in dir. An
// absolute path for each, present or not, keeps the user's own CLIs out of it.
func install(dir string) ([]clichain.Backend, error) {
	var backends []clichain.Backend
	cast := demoCast()
	for _, spec := range specs.All() {
		path := filepath.Join(dir, spec.Name)
		role, ok := cast[spec.Name]
		if ok {
			if _, err := clitest.Install(dir, spec.Name, role.scenario); err != nil {
				return nil, err
			}
		}
		backends = append(backends, clichain.NewProvider(spec, &clichain.Config{Binary: path, Timeout: role.timeout}))
	}
	return backends, nil
}
