package reading

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/specs"
)

// recordingsDir has runs of the real CLIs with the arguments that the library
// gives them; see the README there.
const recordingsDir = "testdata/recordings"

// recordedAt is about when they were recorded: the words about the end of a
// limit may leave out the day.
var recordedAt = time.Date(2026, 11, 21, 0, 20, 0, 0, time.UTC)

// readRun is readRecording on the day of the recording.
func readRun(t *testing.T, dir string) Recording {
	t.Helper()
	rec := readRecording(t, dir)
	rec.Now = recordedAt
	return rec
}

// judged is what a recorded run must be judged to be: the answer, or the
// reason.
type judged struct {
	text   string
	reason call.Reason
	wrong  *judged // what it is judged to be today, where that is known to be wrong
}

func TestRecordings(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(recordingsDir, "*", "*"))
	require.NoError(t, err)
	require.Len(t, dirs, len(recordings), "every recording has a verdict in the table, and every verdict a recording")
	for _, dir := range dirs {
		rel, err := filepath.Rel(recordingsDir, dir)
		require.NoError(t, err)
		name := filepath.ToSlash(rel)
		t.Run(name, func(t *testing.T) {
			want, ok := recordings[name]
			require.True(t, ok, "no verdict for it in the table")
			spec, ok := specs.ByName(filepath.Dir(rel))
			require.True(t, ok)
			text, resp, failure, events := Replay(spec, readRun(t, dir))
			if want.wrong != nil {
				require.NotEqual(t, judged{text: want.text, reason: want.reason}, judged{text: text, reason: reasonOf(failure)}, "it is right now: remove what the table says is wrong")
				want = *want.wrong
			}
			require.Equal(t, want.reason, reasonOf(failure), "%v", failure)
			require.Equal(t, want.text, text)
			golden(t, filepath.Join("testdata", "golden", "recordings", strings.ReplaceAll(name, "/", "-")+".json"),
				summary{text, resp, failure, compact(events)})
		})
	}
	left, err := filepath.Glob("testdata/golden/recordings/*.json")
	require.NoError(t, err)
	require.Len(t, left, len(dirs), "a golden file without a recording")
}

// Nothing of a recording or of what is made from it tells where it was made.
func TestRecordingsTellNoPlace(t *testing.T) {
	// One of them is in every match: to look for them is quick.
	hints := []string{"127.0.0.1:", "clichain-home-", "/root/", "/tmp/", "/Users/", "/home/"}
	place := regexp.MustCompile(`127\.0\.0\.1:\d|clichain-home-|(?:^|[^\w/.-])/(?:root|tmp|Users)/|/home/(?:[^d]|d[^e]|de[^v])`)
	for _, pattern := range []string{recordingsDir + "/*/*/*", "testdata/golden/recordings/*.json", "testdata/golden/recordings/cut/*.json"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			for line := range strings.Lines(read(t, file)) {
				if slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(line, hint) }) {
					require.Empty(t, place.FindString(line), file)
				}
			}
		}
	}
}
