package reading

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/specs"
)

// No event of a run contains a secret of its environment, except in the model's own text.
func TestEventsContainNoSecrets(t *testing.T) {
	const secret = "secret-value-of-a-test"
	spec := specs.Claude()
	spec.Events = nil
	kinds := []call.EventKind{
		call.EventSession, call.EventToolUse, call.EventToolResult, call.EventStatus, call.EventCompact, call.EventRetry, call.EventLimit,
		call.EventWarning, call.EventError, call.EventDelta, call.EventThinking, call.EventResult,
	}
	for _, kind := range kinds {
		spec.Events = append(spec.Events, clispec.EventRule{Kind: kind, Match: map[string]string{"type": string(kind)}, Set: map[string]string{
			"text": "x", "id": "x", "name": "x", "input": "in", "model": "x", "key_source": "x", "trigger": "x", "code": "x", "message": "x", "failed": "failed",
		}})
	}
	var events []call.Event
	r := &Reading{
		Name: spec.Name, Program: decode.Compile(spec.Events), Judge: judge.New(&spec), Output: clispec.OutputStream, Answer: spec.Answer,
		Secrets: plaintext.NewRedactor([]string{"MY_API_KEY=" + secret + "\n"}), KeepCommentary: true,
		Emit: func(e call.Event) { events = append(events, e) }, Stop: func(error) {}, Ended: func() bool { return false },
	}
	stdout, stderr := r.Streams()
	for _, kind := range kinds {
		_, _ = stdout.Write([]byte(`{"type":"` + string(kind) + `","x":"a ` + secret + ` z","failed":true,"in":{"a":["` + secret + `"]}}` + "\n"))
	}
	_, _ = stdout.Write([]byte(`{"type":"later","x":"` + secret + `"}` + "\n" + `{"type":"result","x":"` + secret + `"}` + "\n"))
	_, _ = stderr.Write([]byte("Warning: " + strings.Repeat("a", 270) + " " + secret + " is old\n"))
	_ = stdout.Close()
	result := proc.Result{TreeClean: true}
	result.Stderr.Head, result.Stderr.Total = []byte("for "+secret), int64(4+len(secret))
	require.Equal(t, "for [redacted]", r.Evidence(result, 0).Stderr)

	seen := map[call.EventKind]bool{}
	for _, e := range events {
		seen[e.Kind] = true
		if e.Kind == call.EventDelta || e.Kind == call.EventThinking || e.Kind == call.EventResult && !e.Failed {
			require.Contains(t, e.Text, secret, "the model's own words")
			e.Text = ""
		}
		text, err := json.Marshal(e)
		require.NoError(t, err)
		require.NotContains(t, string(text), secret[:8], e.Kind)
		require.Contains(t, string(text), "[redacted]")
		if len(e.Input) > 0 {
			require.JSONEq(t, `{"a":["[redacted]"]}`, string(e.Input))
		}
	}
	require.Len(t, seen, len(kinds)+1, "those and raw")
	require.NotContains(t, r.tally.Model+r.tally.KeySource+strings.Join(r.tally.Warnings, ""), secret[:8])
}

// A secret that is split over lines, each a separate event, is in none of them.
func TestLinesContainNoPartOfSecret(t *testing.T) {
	spec := specs.Claude()
	spec.Lines = []clispec.LineRule{{Pattern: "^Warning: ", Kind: call.EventWarning}}
	var told []string
	r := &Reading{
		Name: spec.Name, Program: decode.Compile(spec.Events), Judge: judge.New(&spec), Output: clispec.OutputStream,
		Secrets: plaintext.NewRedactor([]string{"MY_API_KEY=secret-value-of-a-test"}),
		Emit:    func(e call.Event) { told = append(told, e.Raw+e.Message) }, Stop: func(error) {}, Ended: func() bool { return false },
	}
	stdout, stderr := r.Streams()
	_, _ = stdout.Write([]byte("the key: secret-valu\n  e-of-a-test.\n"))
	_, _ = stderr.Write([]byte("Warning: no secret-valu\ne-of-a-test\n"))
	require.Equal(t, []string{"the key: [redacted]", "  [redacted].", "Warning: no [redacted]"}, told)
}
