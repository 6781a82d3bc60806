package ask

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/specs"
	"github.com/spf13/cobra"
)

// NewDemo makes the command demo.
func NewDemo(env *console.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show a fallback chain on built-in fake CLIs",
		Long: `Show a fallback chain at work: one CLI is logged out, one has reached its usage
limit, one is not installed, one hangs, and one answers. The CLIs are fakes that
are built into this program; the chain, the specs and the processes are real.
The demo needs no CLI, uses no network and removes all its files.`,
		Example: `  clichain demo
  NO_COLOR=1 clichain demo
  clichain demo > demo.txt`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return demo(cmd.Context(), env) },
	}
}

func demo(ctx context.Context, env *console.Env) (err error) {
	dir, err := os.MkdirTemp("", "clichain-demo-")
	if err != nil {
		return console.Fail(console.ExitFailed, err)
	}
	defer func() {
		if removed := os.RemoveAll(dir); err == nil && removed != nil {
			err = console.Fail(console.ExitFailed, removed)
		}
	}()
	if err := os.Setenv("XDG_STATE_HOME", dir); err != nil { // of this process, which ends with the demo
		return console.Fail(console.ExitFailed, err)
	}
	s := newStage(env)
	s.intro(unsuppress(specs.All()))
	backends, err := install(dir)
	if err != nil {
		return console.Fail(console.ExitFailed, fmt.Errorf("cannot set up the fakes: %w", err))
	}
	start := time.Now()
	resp, err := s.perform(dir, clichain.ChainOf(backends, nil).Stream(ctx, clichain.Prompt(demoPrompt)))
	if err != nil {
		return console.Fail(console.ExitFailed, err)
	}
	return s.outro(resp, time.Since(start))
}

// perform displays a stream. It finds the processes of a backend by the path of its fake in dir.
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
	fakes := demoFakes()
	for _, spec := range specs.All() {
		cfg := &clichain.Config{Binary: filepath.Join(dir, spec.Name), Timeout: 10 * time.Second}
		if spec.Name == hanging {
			cfg.Timeout = time.Second
		}
		if scenario, ok := fakes[spec.Name]; ok {
			if _, err := fake.Install(dir, spec.Name, scenario); err != nil {
				return nil, err
			}
		}
		backends = append(backends, clichain.NewProvider(spec, cfg))
	}
	return backends, nil
}

const (
	demoPrompt = "Why is the sky blue?"
	demoAnswer = "Air scatters blue light far more than red, so blue reaches your eyes " +
		"from every part of the sky, and not only from where the sun is."
	hanging = "opencode" // it never answers
)

// demoFakes maps names of specs to fakes. They print a shortened output of the real CLIs.
func demoFakes() map[string]fake.Scenario {
	return map[string]fake.Scenario{
		"claude": LoggedOut(),
		"gemini": play(560*time.Millisecond,
			`{"type":"init","session_id":"cd25bcc2","model":"gemini-2.5-pro"}`,
			fmt.Sprintf(`{"type":"message","role":"user","content":%q}`, demoPrompt),
			`{"type":"result","status":"error","error":{"message":"[API Error: You have exhausted your capacity on `+
				`this model. Your quota will reset after 3h12m4s.]"},"stats":{"total_tokens":0}}`),
		// Its helper runs in a separate session, which a signal to the process group does not reach.
		hanging: {Steps: []fake.Step{
			{ReadStdin: true},
			{Spawn: &fake.Spawn{Setsid: true, HoldStdout: true, Steps: []fake.Step{{Hang: true}}}},
			{Hang: true},
		}},
		"codex": play(700*time.Millisecond,
			`{"type":"thread.started"}`, // without an id, so that clichain records no session
			`{"type":"turn.started"}`,
			fmt.Sprintf(`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":%q}}`,
				demoAnswer),
			`{"type":"turn.completed","usage":{"input_tokens":12,"cached_input_tokens":0,"output_tokens":37,`+
				`"reasoning_output_tokens":0}}`),
	}
}

// LoggedOut reports "success" in its result, together with an error.
func LoggedOut() fake.Scenario {
	return play(380*time.Millisecond,
		`{"type":"system","subtype":"init","session_id":"d00d43d8","model":"claude-opus-4-8","apiKeySource":"none"}`,
		`{"type":"assistant","message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text",`+
			`"text":"Not logged in · Please run /login"}]},"parent_tool_use_id":null,"session_id":"d00d43d8",`+
			`"error":"authentication_failed"}`,
		`{"type":"result","subtype":"success","is_error":true,"num_turns":1,`+
			`"result":"Not logged in · Please run /login","session_id":"d00d43d8","total_cost_usd":0}`)
}

// play makes a fake that reads its prompt, waits for a while and prints lines.
func play(think time.Duration, lines ...string) fake.Scenario {
	steps := []fake.Step{{ReadStdin: true}, {Sleep: think}}
	for _, line := range lines {
		steps = append(steps, fake.Step{Stdout: line + "\n"})
	}
	return fake.Scenario{Steps: steps}
}
