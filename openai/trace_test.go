package openai_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai"
)

// The trace of a request is passed to the backend, and to the hook Config.Trace.
func TestRequestTrace(t *testing.T) {
	const parent, state = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=1"
	type kept struct{}
	for _, test := range []struct{ name, path, body, parent, want string }{
		{"chat", "/v1/chat/completions", `{"model":"clichain","messages":[{"role":"user","content":"hi"}]}`, parent, parent},
		{"stream", "/v1/chat/completions", `{"model":"clichain","stream":true,"messages":[{"role":"user","content":"hi"}]}`, parent, parent},
		{"responses", "/v1/responses", `{"model":"clichain","input":"hi"}`, parent, parent},
		{"no trace", "/v1/responses", `{"model":"clichain","input":"hi"}`, "", ""},
		{"malformed trace", "/v1/responses", `{"model":"clichain","input":"hi"}`, parent[1:], ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var heard []string
			backend := clichain.BackendFunc("one", func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
				parent, state := call.TraceOf(ctx)
				headers, _ := ctx.Value(kept{}).(map[string]string)
				assert.Equal(t, headers["traceparent"], parent)
				assert.Equal(t, headers["tracestate"], state)
				heard = append(heard, parent, state)
				return &clichain.Response{Text: "yes", Backend: "one"}, nil
			})
			s := serving(t, backend, func(cfg *openai.Config) {
				cfg.Trace = func(ctx context.Context) context.Context {
					parent, state := call.TraceOf(ctx)
					return context.WithValue(ctx, kept{}, map[string]string{"traceparent": parent, "tracestate": state})
				}
			})
			r := request(t, s, http.MethodPost, test.path, test.body)
			r.Header["Traceparent"], r.Header["Tracestate"] = []string{test.parent}, []string{state}
			require.Equal(t, http.StatusOK, do(t, s, r).status)
			wantState := ""
			if test.want != "" {
				wantState = state
			}
			require.Equal(t, []string{test.want, wantState}, heard)
		})
	}
}
