package clitest

import (
	"embed"
	"encoding/json"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest/internal/dialect"
	"github.com/clichain/clichain/internal/recording"
)

// recordings contains runs of real CLIs, by the name of the spec and the scene, with placeholders for the answer and
// the end of a limit. The test of this package derives them from the recordings in the library's tests.
//
//go:embed recorded
var recordings embed.FS

// answer returns a run that answers with the text: the recorded run, if the spec still recognizes it.
func (v printer) answer(text string) (dialect.Script, error) {
	if s, ok := v.recorded("answer", "{{answer}}", text); ok && v.Answers(s, text) {
		return s, nil
	}
	return v.Answer(text)
}

// failure returns a run that fails for the reason: the recorded scene, otherwise one with the message.
func (v printer) failure(scene string, reason call.Reason, message string) (dialect.Script, error) {
	if s, ok := v.recorded(scene); ok {
		if out := v.Judge(s); out.Failure != nil && out.Failure.Reason == reason {
			return s, nil
		}
	}
	return v.Failure(reason, message)
}

// limit returns a run at the limit of a plan.
func (v printer) limit(end time.Time) (dialect.Script, error) {
	s, ok := v.recorded("limit", "{{unix}}", strconv.FormatInt(end.Unix(), 10), "{{utc}}", end.UTC().Format("3:04pm"),
		"{{local}}", end.Local().Format("3:04 PM"), "{{in}}", time.Until(end).Round(time.Second).String())
	if ok && v.Limited(s, end) {
		return s, nil
	}
	return v.Limit(end)
}

// recorded returns a recorded scene of this CLI with values for its fields. ok is false if there is none.
func (v printer) recorded(scene string, fields ...string) (s dialect.Script, ok bool) {
	data, err := recordings.ReadFile(path.Join("recorded", v.spec.Name, scene+".json"))
	if err != nil {
		return s, false
	}
	run, err := recording.Decode(data)
	if err != nil || run.ExitCode == nil {
		return s, false
	}
	for i := 1; i < len(fields); i += 2 {
		fields[i] = inJSON(fields[i])
	}
	values := strings.NewReplacer(fields...)
	s = dialect.Script{Stderr: values.Replace(string(run.Stderr)), Exit: *run.ExitCode}
	if run.Stdout != "" {
		s.Lines = strings.Split(strings.TrimSuffix(values.Replace(string(run.Stdout)), "\n"), "\n")
	}
	return s, true
}

// inJSON returns a text with the escapes of a JSON string.
func inJSON(text string) string {
	quoted, _ := json.Marshal(text) // a string cannot fail
	return string(quoted[1 : len(quoted)-1])
}

// Recorded is a CLI that repeats a recorded run. The file is a JSON object with the lists of lines "stdout" and
// "stderr", each line with its end, and either "exit_code" or "timed_out": true, at which the fake hangs. A stream that
// is no list is an object {"base64": "..."}. docs/how-to/run-the-tests.md says how to record a run. Recorded does not
// compare its arguments and stdin with the recorded ones; use a [Recorder] for that. Recorded ends the test if the file
// is not a recording. [Replay] replays calls and not CLIs.
func Recorded(t TB, file string) Scenario {
	t.Helper()
	run, err := recording.Read(file)
	if err != nil {
		t.Fatalf("clitest: recorded run: %v", err)
	}
	end := Step{Hang: true}
	if run.ExitCode != nil {
		end = Exit(*run.ExitCode)
	}
	steps := play(dialect.Script{Stderr: string(run.Stderr)})
	steps = steps[:len(steps)-1]
	if run.Stdout != "" {
		steps = append(steps, Step{Stdout: string(run.Stdout)})
	}
	return Scenario{Steps: append(steps, end)}
}
