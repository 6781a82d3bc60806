package reading

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/specs"
)

const (
	hello = "Bonjour 中文 😀 done"
	fence = "```json {\\\"key\\\":\\\"value\\\"} ```"
	tool  = "Hello from the loopback model."
)

// transcripts are the expected verdicts on recorded runs of real CLIs: the answer or the reason. Those of agy
// are written by hand, from published reports.
var transcripts = map[string]struct {
	text   string
	reason call.Reason
}{
	"agy/bad-flag":             {reason: call.ReasonUnsupported},
	"agy/bad-model":            {reason: call.ReasonBadModel},
	"agy/command":              {reason: call.ReasonBadOutput}, // of agy itself: no model was called
	"agy/denied":               {reason: call.ReasonPermissionRefused},
	"agy/denied-then-ok":       {text: hello + "\n"},
	"agy/fails-with-text":      {reason: call.ReasonServerError},
	"agy/json-denied":          {reason: call.ReasonPermissionRefused},
	"agy/json-ok":              {text: hello + "\n"},
	"agy/json-quota":           {reason: call.ReasonUsageLimit},
	"agy/log-noise":            {reason: call.ReasonOverloaded},
	"agy/loggedout":            {reason: call.ReasonUnauthenticated},
	"agy/next-line":            {text: "one\u0085two\u2028three\n"},
	"agy/ok":                   {text: hello + "\n"},
	"agy/print-timeout":        {reason: call.ReasonTimeout},
	"agy/print-timeout-empty":  {reason: call.ReasonTimeout},
	"agy/print-timeout-silent": {reason: call.ReasonTimeout}, // the message on stderr is missing
	"agy/quota":                {reason: call.ReasonUsageLimit},
	"agy/quota-lost-result":    {reason: call.ReasonUsageLimit},
	"agy/rate-limit":           {reason: call.ReasonRateLimited},
	"agy/text-ok":              {text: hello},
	"agy/tool":                 {text: "Done.\n"},
	"agy/unavailable":          {reason: call.ReasonOverloaded},
	"agy/unknown-format":       {reason: call.ReasonBadOutput}, // it prints text
	"claude/badjsonschema":     {reason: call.ReasonBadOption},
	"claude/json-401":          {reason: call.ReasonTimeout}, // it retried without output
	"claude/json-429":          {reason: call.ReasonTimeout},
	"claude/json-500":          {reason: call.ReasonTimeout},
	"claude/json-fence":        {text: fence},
	"claude/stream-401":        {reason: call.ReasonUnauthenticated},
	"claude/stream-loggedout":  {reason: call.ReasonUnauthenticated},
	"claude/stream-partial-ok": {text: hello},
	"claude/text-fence":        {text: fence},
	"claude/text-loggedout":    {reason: call.ReasonUnauthenticated},
	"codex/badresume":          {reason: call.ReasonBadSession},
	"codex/stream-429":         {reason: call.ReasonRateLimited},
	"gemini/json-401":          {reason: call.ReasonUnauthenticated},
	"gemini/text-401":          {reason: call.ReasonUnauthenticated},
	"gemini/text-loggedout":    {reason: call.ReasonUnauthenticated},
	"opencode/stream-ok":       {text: hello},
}

func TestTranscripts(t *testing.T) {
	paths := recorded(t, "transcripts", "*")
	require.Len(t, paths, len(transcripts), "every recording has a verdict in the table")
	for _, path := range paths {
		t.Run(nameOf(path), func(t *testing.T) {
			want, ok := transcripts[nameOf(path)]
			require.True(t, ok, "no verdict for it in the table")
			text, resp, failure, events := Replay(specOf(t, path), readRecording(t, path))
			if want.reason == "" {
				require.Nil(t, failure)
			} else {
				require.NotNil(t, failure)
				require.Equal(t, want.reason, failure.Reason, "%v", failure)
			}
			require.Equal(t, want.text, text)
			requireExpected(t, path, "result", summary{text, resp, failure, compact(events)})
		})
	}
}

// A run that timed out while the CLI was retrying has the reason of the retry and is still a timeout.
func TestRetriedTimeoutIsTimeout(t *testing.T) {
	_, _, failure, _ := Replay(specs.Claude(), readRecording(t, "testdata/transcripts/claude/stream-401.json"))
	require.ErrorIs(t, failure, call.ErrUnauthenticated)
	require.ErrorIs(t, failure, call.ErrTimeout)
	require.False(t, errors.Is(failure, call.ErrRateLimited))
}
