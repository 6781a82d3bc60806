package guide_test

import (
	"os"
	"slices"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
)

// TestMain lets the test binary play the fake CLIs.
func TestMain(m *testing.M) { os.Exit(clitest.Run(m)) }

func TestFallsBack(t *testing.T) {
	claude, codex := specs.Claude(), specs.Codex()
	loggedOut := clitest.NewRecorder(t, "claude", clitest.LoggedOut(claude))
	chain := clichain.ChainOf([]clichain.Backend{
		clichain.NewProvider(claude, &clichain.Config{Binary: loggedOut.Path}),
		clichain.NewProvider(codex, &clichain.Config{Binary: clitest.Fake(t, "codex", clitest.Answer(codex, "42"))}),
	}, nil)
	resp, err := chain.Complete(t.Context(), clichain.Prompt("6*7?"))
	if err != nil {
		t.Fatal(err)
	}
	if resp.Text != "42" || resp.Attempts[0].Reason != clichain.ReasonUnauthenticated {
		t.Errorf("answered %q after %v", resp.Text, resp.Attempts)
	}
	if places := loggedOut.Once().Where("6*7?"); !slices.Equal(places, []string{"stdin"}) {
		t.Errorf("the prompt is in %v", places) // where other users could see it
	}
}
