package inspect

import (
	"context"
	"slices"
	"sync"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/spf13/cobra"
)

// NewModels makes the command models.
func NewModels(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	f := &param.Values{}
	asJSON := false
	cmd := &cobra.Command{
		Use:   "models",
		Short: "List the models that each CLI offers",
		Long: `List the models that each CLI reports. The list has the default model, the
reasoning efforts and the context size if the CLI reports them. No model is
asked. The CLIs run at the same time, each for at most 15 seconds, codex for at
most 30 seconds. "clichain ask --model" accepts each name.`,
		Example: `  clichain models
  clichain models --only codex,claude
  clichain models --json | jq -r '.backends[].models[].name'`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listModels(cmd.Context(), r, f, asJSON) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	param.Pick(flags, f, "only", "pass-env", "spec", "binary")
	flags.Lookup("only").Usage = "list the models of these backends, `names` separated by commas"
	r.AddFlags(cmd.Flags())
	return cmd
}

// offer is the list of models of one backend.
type offer struct {
	Backend string        `json:"backend"`
	Lists   bool          `json:"lists"`             // the CLI can list its models
	Models  []call.Model  `json:"models"`            // in the order of the CLI
	Failure *console.Skip `json:"failure,omitempty"` // why there is no list

	skipped bool // it was not run
}

func listModels(ctx context.Context, r *selection.Resolver, f *param.Values, asJSON bool) error {
	s, err := r.Select(f)
	if err != nil {
		return err
	}
	offers := offersOf(ctx, s.Providers)
	if ctx.Err() != nil {
		return console.Fail(console.ExitInterrupted, context.Cause(ctx))
	}
	r.WarnDoubts(s.Providers)
	if asJSON {
		err = r.PrintJSON(map[string]any{"backends": offers})
	} else {
		err = r.Print(modelsTable(offers, r.StyleOf(r.Out), console.Columns(r.Out)))
	}
	if err == nil {
		err = statusOfOffers(offers)
	}
	return err
}

// statusOfOffers returns an error with the exit code and without a text, because the output has the reason.
func statusOfOffers(offers []offer) error {
	switch {
	case slices.ContainsFunc(offers, func(o offer) bool { return o.Failure == nil }):
		return nil
	case slices.ContainsFunc(offers, func(o offer) bool { return !o.skipped }):
		return console.Fail(console.ExitFailed, nil)
	}
	return console.Fail(console.ExitNothing, nil)
}

// offersOf runs all CLIs at the same time.
func offersOf(ctx context.Context, providers selection.Providers) []offer {
	offers := make([]offer, len(providers))
	var running sync.WaitGroup
	for i, p := range providers {
		running.Go(func() { offers[i] = offerOf(ctx, p) })
	}
	running.Wait()
	return offers
}

func offerOf(ctx context.Context, p *clichain.Provider) offer {
	models, err := p.Models(ctx)
	o := offer{Backend: p.Name(), Lists: len(p.Spec().Models.List) > 0, Models: append([]call.Model{}, models...)}
	if err != nil {
		be := call.AsError(p.Name(), err)
		o.Failure, o.skipped = console.NewSkip(be), be.Stage == call.StageSkipped
	}
	return o
}
