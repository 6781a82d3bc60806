package clichain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// lineRuled is a spec that reads its stderr.
func lineRuled(rules ...clichain.LineRule) clichain.CliSpec {
	spec := readerSpec()
	spec.Outputs, spec.Lines = []clichain.OutputMode{clichain.OutputStream}, rules
	return spec
}

func TestLineRules(t *testing.T) {
	stderr := []clichain.Evidence{clichain.OnStderr}
	for _, test := range []struct {
		name   string
		rule   clichain.LineRule
		stderr string
		kind   clichain.EventKind
		said   string
		reason clichain.Reason // of the run, which has no result
	}{
		{"retry with a status", clichain.LineRule{Pattern: `try (?P<attempt>\d+) failed: (?P<status>\d+)`, Kind: clichain.EventRetry, On: stderr}, "try 1 failed: 429", clichain.EventRetry, "try 1 failed: 429", clichain.ReasonExit},
		{"retry that says no reason", clichain.LineRule{Pattern: `try \d+ failed(: (?P<status>\d+))?`, Kind: clichain.EventRetry, On: stderr}, "try 1 failed", clichain.EventRetry, "try 1 failed", clichain.ReasonExit},
		{"warning", clichain.LineRule{Pattern: `deprecated: (?P<message>.+)`, Kind: clichain.EventWarning, On: stderr}, "deprecated: --old", clichain.EventWarning, "--old", clichain.ReasonExit},
		{"error explains the end", clichain.LineRule{Pattern: "no rollout", Reason: clichain.ReasonBadOption, On: stderr}, "x\nno rollout here\ny", "", "", clichain.ReasonBadOption},
		{"error elsewhere does not", clichain.LineRule{Pattern: "no rollout", Reason: clichain.ReasonBadOption, On: []clichain.Evidence{clichain.OnEvent}}, "no rollout", "", "", clichain.ReasonExit},
		{"fatal", clichain.LineRule{Pattern: "stop here", Reason: clichain.ReasonBadModel, On: stderr, Fatal: true}, "stop here", clichain.EventError, "stop here", clichain.ReasonBadModel},
		{"noise is no evidence", clichain.LineRule{Pattern: "^WARN", Kind: clichain.EventStatus, On: stderr}, "WARN rate limit 429 Too Many Requests", "", "", clichain.ReasonExit},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, resp, failure, events := clichain.Replay(lineRuled(test.rule), clichain.Recording{Output: clichain.OutputStream, Stderr: test.stderr + "\n", ExitCode: 1})
			require.NotNil(t, failure)
			require.Equal(t, test.reason, failure.Reason, "%v", failure)
			if test.kind == "" {
				require.Empty(t, events)
				return
			}
			require.Len(t, events, 1)
			require.Equal(t, test.kind, events[0].Kind)
			require.Equal(t, test.said, events[0].Message)
			require.Equal(t, test.kind == clichain.EventWarning, len(resp.Warnings) == 1)
		})
	}
}

// After a fatal line nothing is an answer.
func TestFatalLineBeatsAnAnswer(t *testing.T) {
	spec := lineRuled(clichain.LineRule{Pattern: "wrong model", Reason: clichain.ReasonBadModel, Fatal: true})
	spec.Events[len(spec.Events)-1].Set = map[string]string{"text": "text"}
	rec := clichain.Recording{Output: clichain.OutputStream, Stdout: `{"type":"result","text":"42"}` + "\n"}
	text, _, failure, _ := clichain.Replay(spec, rec)
	require.Nil(t, failure)
	require.Equal(t, "42", text)
	rec.Stderr = "wrong model: using another\n"
	_, _, failure, _ = clichain.Replay(spec, rec)
	require.ErrorIs(t, failure, clichain.ErrBadModel)
}
