package otel_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// recorded returns everything that was recorded as one text.
func (s *seen) recorded(t *testing.T) string {
	t.Helper()
	text := ""
	for _, span := range s.spans.Ended() {
		text += fmt.Sprintf("%q %v %v\n", span.Name(), span.Status(), plain(span.Attributes()))
		for _, e := range span.Events() {
			text += fmt.Sprintf("%q %v\n", e.Name, plain(e.Attributes))
		}
	}
	var data metricdata.ResourceMetrics
	require.NoError(t, s.reader.Collect(t.Context(), &data))
	all, err := json.Marshal(data)
	require.NoError(t, err)
	return text + string(all)
}

func withSystem() clichain.Request {
	req := question
	req.Messages = append([]clichain.Message{{Role: call.RoleSystem, Content: "the secret rule"}}, req.Messages...)
	req.Metadata, req.Env = map[string]string{"k": "the secret note"}, map[string]string{"CHAT": "the secret id"}
	return req
}

func TestContentIsNotRecorded(t *testing.T) {
	for kind, stream := range map[string]bool{"complete": false, "stream": true} {
		t.Run(kind, func(t *testing.T) {
			s := watch(t)
			a := failing("a", clichain.ReasonUsageLimit, usage{})
			strange := failing("c", prompt, usage{})
			for _, c := range []clichain.Backend{s.chain(config{}, a, fine), s.chain(config{}, a, strange)} {
				for range 2 {
					_, _ = ask(t, c, stream, withSystem())
				}
			}
			require.Len(t, s.tree(t), 10)
			require.NotContains(t, s.recorded(t), "secret")
		})
	}
}

func TestContentOnDemand(t *testing.T) {
	s := watch(t, withContent)
	_, err := s.chain(config{}, failing("a", clichain.ReasonEmpty, usage{}), fine).Complete(t.Context(), withSystem())
	require.NoError(t, err)
	got := s.attributes(t, "invoke_workflow chain")
	require.JSONEq(t, `[
		{"role":"system","parts":[{"type":"text","content":"the secret rule"}]},
		{"role":"user","parts":[{"type":"text","content":"the secret question"}]}
	]`, got["gen_ai.input.messages"].(string))
	require.JSONEq(t, `[
		{"role":"assistant","parts":[{"type":"text","content":"the secret answer"}],"finish_reason":"stop"}
	]`, got["gen_ai.output.messages"].(string))
	require.NotContains(t, fmt.Sprint(s.attributes(t, "invoke_agent a"), s.attributes(t, "invoke_agent b")), "secret")
}
