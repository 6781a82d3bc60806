package clitest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/recording"
)

var update = flag.Bool("update", false, "rewrite the recordings of the kit")

const recordingsDir = "../internal/reading/testdata/recordings"

// kept maps the scenes of the kit to recordings, and lists the replacements in their text.
var kept = map[string]struct {
	from   string
	fields []string
}{
	"claude/answer":     {"claude/stream-ok", answerFields},
	"codex/answer":      {"codex/ok", answerFields},
	"gemini/answer":     {"gemini/ok", answerFields},
	"opencode/answer":   {"opencode/ok", answerFields},
	"claude/logged_out": {"claude/loggedout", nil}, "codex/logged_out": {"codex/loggedout", nil},
	"gemini/logged_out": {"gemini/loggedout", nil}, "opencode/logged_out": {"opencode/401", nil},
	"claude/overloaded": {"claude/529", nil}, "codex/overloaded": {"codex/503", nil},
	"claude/limit": {"claude/subscription-limit", []string{"1795300000", "{{unix}}", "10:26pm", "{{utc}}"}},
	"codex/limit":  {"codex/usage-limit", []string{"10:26 PM", "{{local}}"}},
	// the variant of the message with an end time
	"gemini/limit": {"gemini/quota-day", []string{
		"exhausted your daily quota on this model.", "exhausted your capacity on this model. Your quota will reset after {{in}}.",
	}},
}

// answerFields replaces the whole answer and its first piece by the field.
var answerFields = []string{"Bonjour 中文 😀 done", "{{answer}}", `"Bonjour "`, `"{{answer}}"`}

// laterPieces lists the other pieces of the answer. Their lines are omitted.
var laterPieces = []string{`"中文 "`, `"😀 "`, `"done"`}

// The recordings of the kit are those of the library's tests, with fields instead of values and without stack traces.
// The flag -update writes them.
func TestRecordings(t *testing.T) {
	t.Parallel()
	for name, scene := range kept {
		t.Run(name, func(t *testing.T) {
			run, err := recording.Read(filepath.Join(recordingsDir, scene.from+".json"))
			require.NoError(t, err)
			require.NotNil(t, run.ExitCode)
			fields := strings.NewReplacer(scene.fields...)
			want := recording.Run{
				Stdout:   recording.Stream(fields.Replace(withoutLines(string(run.Stdout), laterPieces...))),
				Stderr:   recording.Stream(fields.Replace(withoutLines(string(run.Stderr), "    at "))),
				ExitCode: run.ExitCode,
			}
			path := filepath.Join("recorded", name+".json")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, recording.Write(path, want))
			}
			got, err := recording.Read(path)
			require.NoError(t, err)
			require.Equal(t, want, got, "run the test with -update")
		})
	}
	scenes, err := filepath.Glob("recorded/*/*")
	require.NoError(t, err)
	require.Len(t, scenes, len(kept), "a scene without a known recording")
}

// withoutLines drops the lines that contain one of the texts.
func withoutLines(text string, marks ...string) string {
	var b strings.Builder
lines:
	for line := range strings.Lines(text) {
		for _, mark := range marks {
			if strings.Contains(line, mark) {
				continue lines
			}
		}
		b.WriteString(line)
	}
	return b.String()
}
