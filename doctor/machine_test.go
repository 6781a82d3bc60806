package doctor_test

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/doctor"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// TestMain turns the test binary into a fake CLI if a test starts it as one.
func TestMain(m *testing.M) {
	clitest.Main()
	chaintest.WarmUp()
	os.Exit(clitest.Run(m))
}

func play(steps ...clitest.Step) clitest.Scenario { return clitest.Scenario{Steps: steps} }

func stdout(text string) clitest.Step { return clitest.Step{Stdout: text} }

var readStdin = clitest.Step{ReadStdin: true}

// codexAnswer returns the output of codex for an answer.
func codexAnswer(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"type":"thread.started","thread_id":"t-1"}` + "\n" +
		`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":` + string(quoted) + `}}` + "\n" +
		`{"type":"turn.completed","usage":{"input_tokens":12,"output_tokens":7}}` + "\n"
}

// fake is a backend that answers, or fails with its reason.
type fake struct {
	name   string
	reason clichain.Reason
}

func (f fake) Name() string { return f.name }

func (f fake) Complete(context.Context, clichain.Request) (*clichain.Response, error) {
	if f.reason != "" {
		return nil, &clichain.BackendError{Backend: f.name, Reason: f.reason}
	}
	return &clichain.Response{Text: "from " + f.name, Backend: f.name}, nil
}

func (f fake) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		resp, err := f.Complete(ctx, req)
		yield(clichain.Event{Kind: clichain.EventDone, Response: resp}, err)
	}
}

// diagnosis returns the diagnosis of a built-in backend.
func diagnosis(t *testing.T, name string) doctor.Diagnosis {
	t.Helper()
	spec, ok := specs.ByName(name)
	require.True(t, ok)
	p := clichain.NewProvider(spec, nil)
	d := doctor.Diagnose(t.Context(), []clichain.Backend{p}, nil).Backends[0]
	require.Equal(t, d.Ready(), p.Available(t.Context()) == nil, "the report says what a call does")
	return d
}
