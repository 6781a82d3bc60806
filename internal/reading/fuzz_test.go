package reading

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// interpreters returns the built-in specs, compiled once.
func interpreters(t testing.TB) (all []*interpreter) {
	for _, spec := range specs.Every() {
		all = append(all, interpreterOf(t, spec))
	}
	return all
}

// addRecorded seeds a fuzz test with output of the real CLIs.
func addRecorded(f *testing.F, add func(Recording)) {
	for _, path := range recorded(f, "transcripts", "*") {
		add(readRecording(f, path))
	}
}

func FuzzRules(f *testing.F) {
	addRecorded(f, func(rec Recording) {
		for line := range strings.Lines(rec.Stdout) {
			f.Add(strings.TrimSuffix(line, "\n"))
		}
	})
	for _, seed := range []string{"", "{}", `{"type":null}`, `{"type":7,"message":{"content":[[]]}}`, `{"type":"result"}{"type":"result"}`, strings.Repeat("[", 500), "{\"type\":\"a\x1b[1mb\"}", "\f{}", "\x1b[m\ufeff{}"} {
		f.Add(seed)
	}
	all := interpreters(f)
	f.Fuzz(func(t *testing.T, line string) {
		isJSON := func(text string) bool { return json.Valid([]byte(strings.TrimPrefix(text, "\ufeff"))) }
		valid := isJSON(line) || isJSON(PlainText(line)) // colors are removed
		for i, engine := range all {
			events, ok := engine.events(line)
			if ok && !valid || !ok && len(events) > 0 {
				t.Fatalf("%d acts on what is no JSON: %q: %v", i, line, events)
			}
		}
		for _, object := range DocumentObjects(line) {
			if !json.Valid([]byte(object)) {
				t.Fatalf("%q is no JSON in %q", object, line)
			}
		}
	})
}

func FuzzJudgeText(f *testing.F) {
	addRecorded(f, func(rec Recording) { f.Add(rec.Stderr[:min(len(rec.Stderr), 500)], 429) })
	for _, text := range scary {
		f.Add(text, 500)
	}
	f.Add("} {", 0)
	f.Add("usage limit reached|99999999999999", -1)
	f.Add(`{"error":{"message":"{"}}`, 200)
	all, reasons := interpreters(f), call.Reasons()
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string, status int) {
		for _, engine := range all {
			got, ok := engine.judgeText(clispec.OnStderr, text, now)
			if ok != slices.Contains(reasons, got.Reason) {
				t.Fatalf("%q: %v %+v", text, ok, got)
			}
			got, ok = engine.judgeEvent(call.Event{Kind: call.EventError, Message: text, Status: status}, now)
			if ok != slices.Contains(reasons, got.Reason) {
				t.Fatalf("%q %d: %v %+v", text, status, ok, got)
			}
		}
		err := &call.Error{Backend: "c", Reason: call.ReasonExit, ExitCode: 1, Stderr: text, Hint: text}
		requireOneLine(t, err.Error())
	})
}
