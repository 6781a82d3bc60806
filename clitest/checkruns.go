package clitest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
)

// completer calls a backend.
type completer func(clichain.Backend, context.Context, clichain.Request) (*clichain.Response, error)

// within is the maximum time for one call of a fake, far above the usual time.
const within = 2 * time.Minute

const plainPrompt, plainAnswer = "What is six times seven?", "It is forty-two.\nAnd so it stays."

// config returns the configuration of all runs of a fake.
func config(path string) clichain.Config {
	return clichain.Config{Binary: path, Timeout: within, Sandbox: clichain.SandboxOff}
}

// recorder returns a fake of the CLI that plays the scenario.
func (s *subject) recorder(t TB, play Scenario) *Recorder {
	t.Helper()
	return NewRecorder(t, filepath.Base(s.spec.Binary), play)
}

// in returns the spec with a single output mode.
func (s *subject) in(output clispec.OutputMode) clispec.Spec {
	spec := s.spec
	spec.Outputs = []clispec.OutputMode{output}
	return spec
}

// answers finds the output modes in which the spec does not recognize an answer.
func (s *subject) answers(t TB) (found []problem) {
	for _, output := range s.spec.OutputModes() {
		if _, err := s.printer(output).answer(plainAnswer); err != nil {
			found = append(found, problemf("events", "%v", err))
			continue
		}
		cli := s.recorder(t, Answer(s.in(output), plainAnswer))
		cfg := config(cli.Path)
		cfg.Output = output
		resp, err := s.complete(clichain.NewProvider(s.spec, &cfg), context.Background(), clichain.Prompt(plainPrompt))
		switch {
		case err != nil && len(cli.Received()) == 0:
			found = append(found, problemf(s.refusing(err), "a plain prompt is refused before the CLI starts: %v", err))
		case err != nil:
			found = append(found, problemf("events", "in the output mode %s the answer was not read: %v", output, err))
		case resp.Text != plainAnswer:
			found = append(found, problemf("events", "in the output mode %s the answer %q was read as %q",
				output, plainAnswer, resp.Text))
		}
	}
	return found
}

// refusing returns the field of the spec that most likely refuses a plain prompt.
func (s *subject) refusing(err error) string {
	be, _ := errors.AsType[*clichain.BackendError](err)
	for i, rule := range s.spec.Preflight {
		if be != nil && rule.Message == be.Message {
			return fmt.Sprintf("preflight[%d]", i)
		}
	}
	return "args"
}
