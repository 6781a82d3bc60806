package recording

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRunKeepsItsBytes(t *testing.T) {
	code := 3
	for _, text := range []Stream{
		"", "\n", "a", "a\n", "a\r\nb", "a\n\nb\n\n", "\x00\x1b[31m<&>\u2028\u2029\ufeff\ufffd\r", "\xff\xfe\n", "a\xc3", "中\n\"\\\t",
	} {
		path := filepath.Join(t.TempDir(), "run.json")
		run := Run{
			Recorded: time.Date(2026, 11, 21, 0, 20, 0, 0, time.UTC), Argv: []string{"claude", "-p", ""}, Output: "stream",
			Stdin: text, Stdout: text, Stderr: text, ExitCode: &code, Seconds: 1.5, Expected: map[string]json.RawMessage{"text": []byte(`"<"`)},
		}
		require.NoError(t, Write(path, run))
		got, err := Read(path)
		require.NoError(t, err)
		require.Equal(t, run, got)
	}
}

func FuzzStream(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "\xff", "\u2028\x00<"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		data, err := Stream(text).MarshalJSON()
		require.NoError(t, err)
		var got Stream
		require.NoError(t, got.UnmarshalJSON(data))
		require.Equal(t, text, string(got))
	})
}

func TestFileIsReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, Write(path, Run{Stdout: "{\"a\":1}\n<b>", Stderr: "\xff", TimedOut: true, Seconds: 10}))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, `{
  "stdout": [
    "{\"a\":1}\n",
    "<b>"
  ],
  "stderr": {
    "base64": "/w=="
  },
  "timed_out": true,
  "seconds": 10
}
`, string(data))
}

func TestReadRefuses(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"no end":        {`{"stdout": ["a"]}`, "set either exit_code or timed_out"},
		"two ends":      {`{"exit_code": 0, "timed_out": true}`, "set either exit_code or timed_out"},
		"unknown field": {`{"exit": 0}`, `unknown field "exit"`},
		"no list":       {`{"stdout": "a", "exit_code": 0}`, "cannot unmarshal string"},
		"no base64":     {`{"stdout": {"base64": "?"}, "exit_code": 0}`, "illegal base64"},
		"no JSON":       {`soon`, "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.json")
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))
			_, err := Read(path)
			require.ErrorContains(t, err, test.says)
			require.ErrorContains(t, err, path)
		})
	}
	_, err := Read(filepath.Join(t.TempDir(), "missing.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
