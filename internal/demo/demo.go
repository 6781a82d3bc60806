// Package demo shows a fallback chain at work on fake CLIs. The chain, the specs and the processes are real. It serves
// examples/demo and the command clichain demo.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/specs"
)

// Screen is where a demo appears.
type Screen struct {
	Out   io.Writer
	Width int  // columns, 0 for 80
	Live  bool // Out is a terminal on which a line can be redrawn
	Color bool
}

// Run plays the demo, which takes about 3 s, and removes its files. It changes environment variables of this process:
// its state is a temporary directory, and no variable suppresses a CLI. The program must call [fake.Main] first.
func Run(ctx context.Context, s Screen) (err error) {
	dir, err := os.MkdirTemp("", "clichain-demo-")
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.RemoveAll(dir); err == nil {
			err = removed
		}
	}()
	if err := os.Setenv("XDG_STATE_HOME", dir); err != nil {
		return err
	}
	v := newView(s)
	v.intro(unsuppress(specs.All()))
	backends, err := install(dir)
	if err != nil {
		return fmt.Errorf("cannot set up the fakes: %w", err)
	}
	start := time.Now()
	resp, err := play(v, dir, clichain.ChainOf(backends, nil).Stream(ctx, clichain.Prompt(prompt)))
	if err != nil {
		return err
	}
	return v.outro(resp, time.Since(start))
}

// play displays a stream. It finds the processes of a backend by the path of its fake in dir.
func play(v *view, dir string, events iter.Seq2[clichain.Event, error]) (*clichain.Response, error) {
	end := func(*clichain.BackendError) {}
	for e, err := range events {
		switch {
		case err != nil:
			return nil, err
		case e.Kind == clichain.EventStart:
			end = v.begin(e.Backend, filepath.Join(dir, e.Backend))
		case e.Kind == clichain.EventDone:
			end(nil)
			return e.Response, nil
		case e.Kind == clichain.EventAttempt && e.Attempt.Skipped:
			v.draw(row{name: e.Attempt.Backend, state: skipped, label: string(e.Attempt.Reason)})
		case e.Kind == clichain.EventAttempt:
			be, _ := errors.AsType[*clichain.BackendError](e.Attempt.Err)
			end(be)
		}
	}
	return nil, nil // a stream ends in an error or in EventDone
}

// unsuppress unsets the variables that suppress CLIs in this process, because the demo runs only fakes.
func unsuppress(list []clichain.CliSpec) (variables []string) {
	for _, spec := range list {
		for _, name := range []string{spec.Name, spec.ProviderSlug} {
			for variable, ok := clichain.SuppressedBy(name); ok; variable, ok = clichain.SuppressedBy(name) {
				if os.Unsetenv(variable) != nil {
					break
				}
				variables = append(variables, variable)
			}
		}
	}
	return variables
}

// install makes the backends of the demo: the real specs with fakes in dir. A spec without a fake is not installed.
// Each backend has an absolute path, so that the demo finds no real CLI.
func install(dir string) (backends []clichain.Backend, err error) {
	for _, spec := range specs.All() {
		cfg := &clichain.Config{Binary: filepath.Join(dir, spec.Name), Timeout: 10 * time.Second}
		if spec.Name == hanging {
			cfg.Timeout = time.Second
		}
		if scenario, ok := fakes()[spec.Name]; ok {
			if _, err := fake.Install(dir, spec.Name, scenario); err != nil {
				return nil, err
			}
		}
		backends = append(backends, clichain.NewProvider(spec, cfg))
	}
	return backends, nil
}
