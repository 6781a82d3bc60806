package reading

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

// judged is the expected verdict on a recorded run: the answer or the reason.
type judged struct {
	text   string
	reason call.Reason
	wrong  *judged // the current verdict, if it is known to be wrong
}

func TestRecordings(t *testing.T) {
	paths := recorded(t, "recordings", "*")
	require.Len(t, paths, len(recordings), "every recording has a verdict in the table, and every verdict a recording")
	for _, path := range paths {
		t.Run(nameOf(path), func(t *testing.T) {
			want, ok := recordings[nameOf(path)]
			require.True(t, ok, "no verdict for it in the table")
			text, resp, failure, events := Replay(specOf(t, path), readRecording(t, path))
			if want.wrong != nil {
				require.NotEqual(t, judged{text: want.text, reason: want.reason}, judged{text: text, reason: reasonOf(failure)}, "the verdict is now correct: remove wrong from the table")
				want = *want.wrong
			}
			require.Equal(t, want.reason, reasonOf(failure), "%v", failure)
			require.Equal(t, want.text, text)
			requireExpected(t, path, "result", summary{text, resp, failure, compact(events)})
		})
	}
}

// No recording, and nothing made from it, contains a path or a name of the machine that made it.
func TestRecordingsRevealNoPath(t *testing.T) {
	// Each match contains one of these texts, which are fast to search for.
	hints := []string{"127.0.0.1:", "clichain-home-", "/root/", "/tmp/", "/Users/", "/home/"}
	place := regexp.MustCompile(`127\.0\.0\.1:\d|clichain-home-|(?:^|[^\w/.-])/(?:root|tmp|Users)/|/home/(?:[^d]|d[^e]|de[^v])`)
	for _, path := range recorded(t, "recordings", "*") {
		run := readRun(t, path)
		texts := append(run.Argv, string(run.Stdin), string(run.Stdout), string(run.Stderr))
		for _, value := range run.Expected {
			texts = append(texts, string(value))
		}
		for _, text := range texts {
			for line := range strings.Lines(text) {
				if slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(line, hint) }) {
					require.Empty(t, place.FindString(line), path)
				}
			}
		}
	}
}
