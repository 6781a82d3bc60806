package otel_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	api "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/otel"
	"github.com/clichain/clichain/specs"
)

// A chain reports events to its hooks, and the wrapper creates spans from them.
func Example() {
	spans := tracetest.NewInMemoryExporter() // a real program has an exporter that sends them
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))

	telemetry, err := otel.New(&otel.Config{TracerProvider: provider})
	if err != nil {
		fmt.Println(err)
		return
	}
	busy := clichain.BackendFunc("busy", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, clichain.ErrOverloaded
	})
	free := clichain.BackendFunc("free", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "42"}, nil
	})
	chain := clichain.ChainOf([]clichain.Backend{busy, free}, &clichain.ChainConfig{Hooks: telemetry.Hooks()})
	resp, err := telemetry.Backend(chain).Complete(context.Background(), clichain.Prompt("6*7?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Text)
	for _, span := range spans.GetSpans() {
		fmt.Printf("%s: %s\n", span.Name, span.Status.Code)
	}
	// Output:
	// 42
	// invoke_agent busy: Error
	// invoke_agent free: Unset
	// invoke_workflow chain: Unset
}

// The snippets of docs/how-to/telemetry.md compile: they are the bodies of these functions.
var _ = func(ctx context.Context, provider *trace.TracerProvider) error {
	telemetry, err := otel.New(&otel.Config{TracerProvider: provider})
	if err != nil {
		return err
	}
	chain := clichain.NewChain(specs.All(), &clichain.ChainConfig{Hooks: telemetry.Hooks()})
	backend := telemetry.Backend(chain)
	resp, err := backend.Complete(ctx, clichain.Prompt("Name three uses of a paper clip."))
	_ = resp
	return err
}

var _ = func(telemetry *otel.Telemetry, store cooldown.QuotaStore) (api.Registration, error) {
	registration, err := telemetry.RegisterQuotas(store.Quotas)
	return registration, err
}

func TestSnippetsCompile(t *testing.T) {
	page, err := os.ReadFile("../docs/how-to/telemetry.md")
	require.NoError(t, err)
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	snippets := strings.Split(string(page), "```go\n")[1:]
	require.Len(t, snippets, 2)
	for _, snippet := range snippets {
		snippet, _, _ = strings.Cut(snippet, "```")
		require.Contains(t, strings.ReplaceAll(string(source), "\n\t", "\n"), snippet)
	}
}
