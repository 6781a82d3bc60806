package otel_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/propagation"
	api "go.opentelemetry.io/otel/trace"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/otel"
	"github.com/clichain/clichain/specs"
)

const parent, state = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "vendor=a"

func TestPropagationThroughQueue(t *testing.T) {
	for name, change := range map[string]func(*otel.Config){
		"given": func(*otel.Config) {}, "none": func(c *otel.Config) { c.Propagator = nil },
		"another": func(c *otel.Config) {
			c.Propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := watch(t, change)
			require.Nil(t, s.Inject(t.Context()))
			ctx, span := s.traces.Tracer("test").Start(t.Context(), "enqueue")
			job := s.Inject(ctx)
			span.End()
			require.Regexp(t, `^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`, job["traceparent"])

			_, err := s.chain(config{}, fine).Complete(s.Extract(t.Context(), job), question)
			require.NoError(t, err)
			require.Equal(t, []string{"enqueue", "enqueue > " + root, "enqueue > " + run + "b"}, s.tree(t))

			ctx = s.Extract(t.Context(), map[string]string{"traceparent": parent, "tracestate": state})
			require.Equal(t, map[string]string{"traceparent": parent, "tracestate": state}, s.Inject(ctx))
			for _, bad := range []map[string]string{nil, {"traceparent": prompt}} {
				require.False(t, api.SpanContextFromContext(s.Extract(t.Context(), bad)).IsValid())
			}
		})
	}
}

// A CLI that reads TRACEPARENT receives the span of the call.
func TestCLIReceivesSpan(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, variable := range []string{"SKIP_CLI", "CLICHAIN_SKIP_CLI", "LLM_HERE_SKIP_CLI"} {
		t.Setenv(variable, "")
	}
	record := filepath.Join(t.TempDir(), "record")
	cli := clitest.Fake(t, "codex", clitest.Scenario{Steps: []clitest.Step{
		{Record: record},
		{Stdout: `{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"42"}}` + "\n" +
			`{"type":"turn.completed","usage":{"input_tokens":3,"output_tokens":1}}` + "\n"},
	}})
	s := watch(t)
	provider := clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: cli, Sandbox: clichain.SandboxOff})
	ctx := s.Extract(t.Context(), map[string]string{"traceparent": parent, "tracestate": state})
	resp, err := s.chain(config{}, provider).Complete(ctx, question)
	require.NoError(t, err)
	require.Equal(t, "42", resp.Text)

	r, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	call := s.spans.Started()[0].SpanContext()
	require.Equal(t, "invoke_workflow chain", s.spans.Started()[0].Name())
	require.Contains(t, r.Env, "TRACEPARENT=00-"+call.TraceID().String()+"-"+call.SpanID().String()+"-01")
	require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", call.TraceID().String())
	require.Contains(t, r.Env, "TRACESTATE="+state)
	require.Equal(t, int64(3), s.attributes(t, "invoke_agent codex")["gen_ai.usage.input_tokens"])
	require.False(t, slices.Contains(r.Args, parent))
}

// Without a tracer, the trace context of the caller remains.
func TestCallersTraceRemains(t *testing.T) {
	tel, err := otel.New(nil)
	require.NoError(t, err)
	var got string
	b := clichain.BackendFunc("b", func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
		got, _ = call.TraceOf(ctx)
		return &response{Text: answer}, nil
	})
	_, err = tel.Backend(b).Complete(call.WithTrace(t.Context(), parent, ""), question)
	require.NoError(t, err)
	require.Equal(t, parent, got)
}
