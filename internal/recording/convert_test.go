package recording

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
)

var convert = flag.Bool("convert", false, "write a file for each directory of a recorded run")

// The directories of recorded runs become files, with the same bytes.
func TestConversion(t *testing.T) {
	const data = "../reading/testdata/"
	cuts := map[string]map[string][]string{}
	files, err := filepath.Glob(data + "golden/recordings/cut/*.json")
	require.NoError(t, err)
	for _, file := range files {
		var lines []string
		require.NoError(t, json.Unmarshal(old(t, file), &lines))
		of := map[string][]string{}
		for _, line := range lines {
			scene, verdicts, _ := strings.Cut(line, ": ")
			of[scene] = strings.Split(verdicts, ", ")
		}
		cuts[strings.TrimSuffix(filepath.Base(file), ".json")] = of
	}
	dirs := map[string]string{}
	for _, kind := range []string{"recordings", "transcripts"} {
		found, err := filepath.Glob(data + kind + "/*/*/argv")
		require.NoError(t, err)
		for _, file := range found {
			dirs[filepath.Dir(file)] = kind
		}
	}
	require.Len(t, dirs, 445)
	for dir, kind := range dirs {
		scene, cli := filepath.Base(dir), filepath.Base(filepath.Dir(dir))
		want := Run{
			Recorded: time.Date(2026, 11, 21, 0, 20, 0, 0, time.UTC),
			Stdin:    Stream(old(t, dir+"/stdin")), Stdout: Stream(old(t, dir+"/stdout")), Stderr: Stream(old(t, dir+"/stderr")),
		}
		if kind == "transcripts" {
			want.Recorded = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
		}
		require.NoError(t, json.Unmarshal(old(t, dir+"/argv"), &want.Argv))
		want.Output = outputOf(want.Argv)
		end := strings.Fields(string(old(t, dir+"/exit")))
		require.Len(t, end, 2, dir)
		if want.TimedOut = end[0] == "timeout"; !want.TimedOut {
			code, err := strconv.Atoi(end[0])
			require.NoError(t, err)
			want.ExitCode = &code
		}
		want.Seconds, err = strconv.ParseFloat(strings.TrimSuffix(end[1], "s"), 64)
		require.NoError(t, err)
		want.Expected = map[string]json.RawMessage{"result": old(t, data+"golden/"+kind+"/"+cli+"-"+scene+".json")}
		if cut := cuts[cli][scene]; cut != nil && kind == "recordings" {
			want.Expected["cut"], err = json.Marshal(cut)
			require.NoError(t, err)
		}
		if *convert {
			require.NoError(t, Write(dir+".json", want))
		}
		got, err := Read(dir + ".json")
		require.NoError(t, err)
		for name, value := range want.Expected {
			require.JSONEq(t, string(value), string(got.Expected[name]))
		}
		want.Expected, got.Expected = nil, nil
		require.Equal(t, want, got)
	}
}

func old(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// outputOf returns the output mode of a recorded command line.
func outputOf(argv []string) clispec.OutputMode {
	line := strings.Join(argv, " ")
	streams := []string{"stream-json", "exec --json", "resume --json", "run --format json", "--mode json", "cline --json", "--output-format=json"}
	switch {
	case slices.ContainsFunc(streams, func(words string) bool { return strings.Contains(line, words) }):
		return clispec.OutputStream
	case strings.Contains(line, "format json"), strings.Contains(line, "-o json"):
		return clispec.OutputJSON
	}
	return clispec.OutputText
}
