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

// recordingsDir contains runs of the real CLIs with the arguments that the library uses; see the README there.
const recordingsDir = "testdata/recordings"

// recordedAt is the approximate time of the recordings, because messages about the end of a limit may omit the
// day.
var recordedAt = time.Date(2026, 11, 21, 0, 20, 0, 0, time.UTC)

// readRun is readRecording with the day of the recording.
func readRun(t *testing.T, dir string) Recording {
	t.Helper()
	rec := readRecording(t, dir)
	rec.Now = recordedAt
	return rec
}

// judged is the expected verdict on a recorded run: the answer or the reason.
type judged struct {
	text   string
	reason call.Reason
	wrong  *judged // the current verdict, if it is known to be wrong
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
				require.NotEqual(t, judged{text: want.text, reason: want.reason}, judged{text: text, reason: reasonOf(failure)}, "the verdict is now correct: remove wrong from the table")
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

// No recording, and nothing made from it, contains a path or a name of the machine that made it.
func TestRecordingsRevealNoPath(t *testing.T) {
	// Each match contains one of these texts, which are fast to search for.
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
