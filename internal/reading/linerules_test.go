package reading

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// lineRuled returns a spec with the given line rules.
func lineRuled(rules ...clispec.LineRule) clispec.Spec {
	spec := readerSpec()
	spec.Outputs, spec.Lines = []clispec.OutputMode{clispec.OutputStream}, rules
	return spec
}

func TestLineRules(t *testing.T) {
	stderr := []clispec.Evidence{clispec.OnStderr}
	for _, test := range []struct {
		name   string
		rule   clispec.LineRule
		stderr string
		kind   call.EventKind
		said   string
		reason call.Reason // of the run, which has no result and exits with code 1
	}{
		{"retry with a status", clispec.LineRule{Pattern: `try (?P<attempt>\d+) failed: (?P<status>\d+)`, Kind: call.EventRetry, On: stderr}, "try 1 failed: 429", call.EventRetry, "try 1 failed: 429", call.ReasonRateLimited},
		{"retry without a reason", clispec.LineRule{Pattern: `try \d+ failed(: (?P<status>\d+))?`, Kind: call.EventRetry, On: stderr}, "try 1 failed", call.EventRetry, "try 1 failed", call.ReasonServerError},
		{"warning", clispec.LineRule{Pattern: `deprecated: (?P<message>.+)`, Kind: call.EventWarning, On: stderr}, "deprecated: --old", call.EventWarning, "--old", call.ReasonExit},
		{"error explains the end", clispec.LineRule{Pattern: "no rollout", Reason: call.ReasonBadOption, On: stderr}, "x\nno rollout here\ny", "", "", call.ReasonBadOption},
		{"error elsewhere does not", clispec.LineRule{Pattern: "no rollout", Reason: call.ReasonBadOption, On: []clispec.Evidence{clispec.OnEvent}}, "no rollout", "", "", call.ReasonExit},
		{"fatal", clispec.LineRule{Pattern: "stop here", Reason: call.ReasonBadModel, On: stderr, Fatal: true}, "stop here", call.EventError, "stop here", call.ReasonBadModel},
		{"noise is no evidence", clispec.LineRule{Pattern: "^WARN", Kind: call.EventStatus, On: stderr}, "WARN rate limit 429 Too Many Requests", "", "", call.ReasonExit},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, resp, failure, events := Replay(lineRuled(test.rule), Recording{Output: clispec.OutputStream, Stderr: test.stderr + "\n", ExitCode: 1})
			require.NotNil(t, failure)
			require.Equal(t, test.reason, failure.Reason, "%v", failure)
			if test.kind == "" {
				require.Empty(t, events)
				return
			}
			require.Len(t, events, 1)
			require.Equal(t, test.kind, events[0].Kind)
			require.Equal(t, test.said, events[0].Message)
			require.Equal(t, test.kind == call.EventWarning, len(resp.Warnings) == 1)
		})
	}
}

// After a fatal line, no output counts as an answer.
func TestFatalLineOverridesAnswer(t *testing.T) {
	spec := lineRuled(clispec.LineRule{Pattern: "wrong model", Reason: call.ReasonBadModel, Fatal: true})
	spec.Events[len(spec.Events)-1].Set = map[string]string{"text": "text"}
	rec := Recording{Output: clispec.OutputStream, Stdout: `{"type":"result","text":"42"}` + "\n"}
	text, _, failure, _ := Replay(spec, rec)
	require.Nil(t, failure)
	require.Equal(t, "42", text)
	rec.Stderr = "wrong model: using another\n"
	_, _, failure, _ = Replay(spec, rec)
	require.ErrorIs(t, failure, call.ErrBadModel)
}
