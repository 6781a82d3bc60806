package accept_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// One chain asks the same CLI with several models.
func TestInstancesWithModels(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	instance := func(name, model, effort string) *clichain.Provider {
		scenario := chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.Init1+"\n"+chaintest.ResultLine("from a")+"\n"))
		return chaintest.Provider(t, specs.Claude(), clichain.Config{Name: name, Model: model, Effort: effort}, scenario)
	}
	quick, slow := instance("claude-haiku", "haiku", ""), instance("claude-sonnet", "sonnet", "high")
	resp, err := accepting(t, refusing("a"), clichain.Prompt("hi"), clichain.ChainConfig{}, quick, slow, &chaintest.Backend{ID: "c"})
	require.NoError(t, err)
	require.Equal(t, "from c", resp.Text)
	require.Equal(t, []string{"claude-haiku", "claude-sonnet"}, []string{resp.Attempts[0].Backend, resp.Attempts[1].Backend})

	for name, test := range map[string]struct {
		backend             *clichain.Provider
		model, effort       string
		wantModel, wantArgs string
	}{
		"model":                        {quick, "", "", "haiku", "--model haiku"},
		"model and effort":             {slow, "", "", "sonnet", "--effort high"},
		"model of the request":         {slow, "opus", "", "opus", "--model opus"},
		"effort of the request":        {slow, "", "low", "sonnet", "--effort low"},
		"name of the backend":          {slow, "claude-sonnet", "", "sonnet", "--model sonnet"},
		"choice of the CLI, addressed": {slow, "claude-sonnet/default", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := clichain.Prompt("hi")
			req.Model, req.Options.Effort = test.model, test.effort
			command, err := test.backend.Command(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, test.wantModel, command.Model)
			require.Contains(t, strings.Join(command.Args, " "), test.wantArgs)
			require.Equal(t, test.wantModel != "", slices.Contains(command.Args, "--model"))
		})
	}

	spec := specs.Claude()
	spec.UseModel, spec.UseEffort = "haiku", "low"
	for want, cfg := range map[string]*clichain.Config{"haiku": nil, "opus": {Model: "opus"}} {
		model, ok := clichain.NewProvider(spec, cfg).Model("")
		require.True(t, ok)
		require.Equal(t, want, model)
	}

	foreign := clichain.NewProvider(specs.Claude(), &clichain.Config{Binary: slow.Config().Binary, Model: "gpt-5"})
	be := chaintest.RequireReason(t, clichain.ReasonModelMismatch, foreign.Check(t.Context(), clichain.Prompt("hi")))
	require.Contains(t, be.Message, `"gpt-5" is not a model of this backend`)
}
