package reading

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// The model of an answer in claude's output. The cases with several models are from runs of 2.1.329 with a
// sub-agent and with --fallback-model.
func TestModelOfAnAnswer(t *testing.T) {
	const (
		opusInit = `{"type":"system","subtype":"init","session_id":"s1","model":"claude-opus-5-5"}`
		fallback = `{"type":"system","subtype":"model_fallback","original_model":"claude-opus-5-5","fallback_model":"claude-haiku-5-5","session_id":"s1"}`
		haikuRan = `"claude-haiku-5-5":{"inputTokens":12,"outputTokens":7}`
		opusRan  = `"claude-opus-5-5":{"inputTokens":36,"outputTokens":21}`
	)
	result := func(more string) string { return strings.TrimSuffix(resultLine("A"), "}") + "," + more + "}" }
	for _, test := range []struct {
		name   string
		output clispec.OutputMode
		lines  []string
		want   string
	}{
		{"the only one that ran", clispec.OutputJSON, []string{result(`"modelUsage":{` + haikuRan + `}`)}, "claude-haiku-5-5"},
		{"the one that said most, first", clispec.OutputJSON, []string{result(`"modelUsage":{` + opusRan + "," + haikuRan + `}`)}, "claude-opus-5-5"},
		{"the one that said most, last", clispec.OutputJSON, []string{result(`"modelUsage":{` + haikuRan + "," + opusRan + `}`)}, "claude-opus-5-5"},
		{"the first of equals", clispec.OutputJSON, []string{result(`"modelUsage":{"m2":{"outputTokens":7},"m1":{"outputTokens":7}}`)}, "m2"},
		{"no counts", clispec.OutputJSON, []string{result(`"modelUsage":{"m2":{},"m1":{}}`)}, "m2"},
		{"none ran", clispec.OutputJSON, []string{result(`"modelUsage":{}`)}, ""},
		{"no object", clispec.OutputJSON, []string{result(`"modelUsage":["m1",7]`)}, ""},
		{"the envelope names it", clispec.OutputJSON, []string{result(`"model":"m9","modelUsage":{` + opusRan + `}`)}, "m9"},
		{"the envelope of a failure names it", clispec.OutputJSON, []string{strings.TrimSuffix(failedLine("API Error: 401"), "}") + `,"model":"m9"}`}, "m9"},
		{"an envelope without a type", clispec.OutputJSON, []string{`{"is_error":false,"result":"A","model":"m9"}`}, "m9"},
		{"an array of events", clispec.OutputJSON, []string{"[" + opusInit + "," + result(`"modelUsage":{`+haikuRan+","+opusRan+`}`) + "]"}, "claude-opus-5-5"},
		{"a stream", clispec.OutputStream, []string{opusInit, result(`"modelUsage":{` + opusRan + `}`)}, "claude-opus-5-5"},
		{"a stream with a sub-agent that said most", clispec.OutputStream, []string{opusInit, result(`"modelUsage":{"claude-haiku-5-5":{"outputTokens":99},` + opusRan + `}`)}, "claude-opus-5-5"},
		{"a stream that turned to another", clispec.OutputStream, []string{opusInit, fallback, result(`"modelUsage":{` + haikuRan + `}`)}, "claude-haiku-5-5"},
		{"a stream without a beginning", clispec.OutputStream, []string{result(`"modelUsage":{` + haikuRan + "," + opusRan + `}`)}, "claude-opus-5-5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, resp, _, _ := Replay(specs.Claude(), Recording{Output: test.output, Stdout: strings.Join(test.lines, "\n") + "\n"})
			require.Equal(t, test.want, resp.Model)
		})
	}
}

// A member "result" or "response" alone shows no outcome, for any CLI.
func TestResultWithoutType(t *testing.T) {
	for _, spec := range specs.Every() {
		replay := ReplayBy(spec)
		for _, output := range spec.OutputModes() {
			if output == clispec.OutputText {
				continue
			}
			for _, stdout := range []string{`{"result":"A"}`, `{"result":"A","session_id":"s"}`, `{"type":"","result":"A"}`, `[{"result":"A"}]`, `{"response":"A"}`} {
				text, _, failure, _ := replay(Recording{Output: output, Stdout: stdout + "\n"})
				require.NotNil(t, failure, "%s %s: %s", spec.Name, output, stdout)
				require.Equal(t, call.ReasonBadOutput, failure.Reason, "%s %s: %s", spec.Name, output, stdout)
				require.Empty(t, text)
			}
		}
	}
}
