package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
	"github.com/spf13/cobra"
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
	backends, err := install(dir, s)
	if err != nil {
		return &statusError{exitFailed, fmt.Errorf("cannot set up the fakes: %w", err)}
	}
	start := time.Now()
	resp, err := clichain.ChainOf(backends, nil).Complete(ctx, clichain.Prompt(demoPrompt))
	if err != nil {
		return &statusError{exitFailed, err}
	}
	return s.outro(resp, time.Since(start))
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
func install(dir string, s *stage) ([]clichain.Backend, error) {
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
		provider := clichain.NewProvider(spec, &clichain.Config{Binary: path, Timeout: role.timeout})
		backends = append(backends, &watched{provider, path, s})
	}
	return backends, nil
}

// watched shows on the stage what its backend does.
type watched struct {
	clichain.Backend
	path  string // a word that all its processes carry
	stage *stage
}

func (w *watched) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	end := w.stage.begin(w.Name(), w.path)
	resp, err := w.Backend.Complete(ctx, req)
	be, _ := errors.AsType[*clichain.BackendError](err)
	end(be)
	return resp, err
}
