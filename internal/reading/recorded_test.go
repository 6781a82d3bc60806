package reading

import (
	"encoding/json"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/recording"
	"github.com/clichain/clichain/specs"
)

var update = flag.Bool("update", false, "rewrite what the tests expect of the recorded runs")

// recorded returns the paths of the recorded runs of a kind, "recordings" or "transcripts", and of a CLI, "*" for all.
func recorded(t testing.TB, kind, cli string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", kind, cli, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

// allRecorded returns the paths of all recorded runs.
func allRecorded(t testing.TB) []string {
	return append(recorded(t, "recordings", "*"), recorded(t, "transcripts", "*")...)
}

// nameOf returns the CLI and the scene of a recorded run, such as "claude/ok".
func nameOf(path string) string { return filepath.Base(filepath.Dir(path)) + "/" + sceneOf(path) }

func sceneOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".json") }

func specOf(t testing.TB, path string) clispec.Spec {
	t.Helper()
	spec, ok := specs.ByName(filepath.Base(filepath.Dir(path)))
	require.True(t, ok)
	return spec
}

func readRun(t testing.TB, path string) recording.Run {
	t.Helper()
	run, err := recording.Read(path)
	require.NoError(t, err)
	return run
}

// readRecording reads a run for Replay.
func readRecording(t testing.TB, path string) Recording {
	t.Helper()
	run := readRun(t, path)
	rec := Recording{
		Stdout: string(run.Stdout), Stderr: string(run.Stderr), Output: run.Output, Now: run.Recorded, TimedOut: run.TimedOut,
	}
	if run.ExitCode != nil {
		rec.ExitCode = *run.ExitCode
	}
	return rec
}

// summary is the expected result of a whole run.
type summary struct {
	Text     string        `json:"text"`
	Response call.Response `json:"response"`
	Failure  *call.Error   `json:"failure"`
	Events   []call.Event  `json:"events"`
}

// compact removes a field that makes recorded runs long without showing anything.
func compact(events []call.Event) []call.Event {
	for i := range events {
		events[i].Backend = ""
	}
	return events
}

// requireExpected compares a value with an expected result of a recorded run, which -update writes.
func requireExpected(t *testing.T, path, name string, value any) {
	t.Helper()
	got, err := json.Marshal(value)
	require.NoError(t, err)
	run := readRun(t, path)
	if !*update {
		require.JSONEq(t, string(run.Expected[name]), string(got), "is it the new result? -update writes it to %s", path)
		return
	}
	if run.Expected == nil {
		run.Expected = map[string]json.RawMessage{}
	}
	run.Expected[name] = got
	require.NoError(t, recording.Write(path, run))
}
