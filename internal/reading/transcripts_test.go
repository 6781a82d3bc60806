package reading

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

var update = flag.Bool("update", false, "rewrite golden files")

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
	recorded, err := filepath.Glob("testdata/transcripts/*/*")
	require.NoError(t, err)
	require.Len(t, recorded, len(transcripts), "every recording has a verdict in the table")
	for _, dir := range recorded {
		name, err := filepath.Rel("testdata/transcripts", dir)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			want, ok := transcripts[filepath.ToSlash(name)]
			require.True(t, ok, "no verdict for it in the table")
			spec, ok := specs.ByName(filepath.Dir(name))
			require.True(t, ok)
			text, resp, failure, events := Replay(spec, readRecording(t, dir))
			if want.reason == "" {
				require.Nil(t, failure)
			} else {
				require.NotNil(t, failure)
				require.Equal(t, want.reason, failure.Reason, "%v", failure)
			}
			require.Equal(t, want.text, text)
			golden(t, filepath.Join("testdata", "golden", "transcripts", strings.ReplaceAll(name, string(filepath.Separator), "-")+".json"),
				summary{text, resp, failure, compact(events)})
		})
	}
}

// A run that timed out while the CLI was retrying has the reason of the retry and is still a timeout.
func TestRetriedTimeoutIsTimeout(t *testing.T) {
	rec := readRecording(t, "testdata/transcripts/claude/stream-401")
	_, _, failure, _ := Replay(specs.Claude(), rec)
	require.ErrorIs(t, failure, call.ErrUnauthenticated)
	require.ErrorIs(t, failure, call.ErrTimeout)
	require.False(t, errors.Is(failure, call.ErrRateLimited))
}

type summary struct {
	Text     string        `json:"text"`
	Response call.Response `json:"response"`
	Failure  *call.Error   `json:"failure"`
	Events   []call.Event  `json:"events"`
}

// compact removes fields that make golden files long without showing anything.
func compact(events []call.Event) []call.Event {
	for i := range events {
		events[i].Backend = ""
	}
	return events
}

func readRecording(t *testing.T, dir string) Recording {
	t.Helper()
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(data)
	}
	rec := Recording{Stdout: read("stdout"), Stderr: read("stderr"), Output: outputOf(t, read("argv")), Now: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)}
	status, _, _ := strings.Cut(strings.TrimSpace(read("exit")), " ")
	if status == "timeout" {
		rec.TimedOut = true
		return rec
	}
	code, err := strconv.Atoi(status)
	require.NoError(t, err)
	rec.ExitCode = code
	return rec
}

// outputOf returns the output mode of a recorded command line.
func outputOf(t *testing.T, argv string) clispec.OutputMode {
	var args []string
	require.NoError(t, json.Unmarshal([]byte(argv), &args))
	line := strings.Join(args, " ")
	streams := []string{"stream-json", "exec --json", "resume --json", "run --format json", "--mode json", "cline --json", "--output-format=json"}
	switch {
	case slices.ContainsFunc(streams, func(words string) bool { return strings.Contains(line, words) }):
		return clispec.OutputStream
	case strings.Contains(line, "format json"), strings.Contains(line, "-o json"):
		return clispec.OutputJSON
	}
	return clispec.OutputText
}

func golden(t *testing.T, path string, value any) {
	t.Helper()
	got, err := json.MarshalIndent(value, "", "  ")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, append(got, '\n'), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to make it")
	require.Equal(t, strings.TrimSpace(string(want)), string(got))
}
