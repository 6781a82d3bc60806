package clitest

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest/internal/dialect"
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
	dir, err := fs.Sub(recordings, path.Join("recorded", v.spec.Name, scene))
	if err != nil {
		return s, false
	}
	run, err := readRun(dir)
	if err != nil {
		return s, false
	}
	for i := 1; i < len(fields); i += 2 {
		fields[i] = inJSON(fields[i])
	}
	values := strings.NewReplacer(fields...)
	s = dialect.Script{Stderr: values.Replace(run.stderr), Exit: run.status}
	if run.stdout != "" {
		s.Lines = strings.Split(strings.TrimSuffix(values.Replace(run.stdout), "\n"), "\n")
	}
	return s, true
}

// inJSON returns a text with the escapes of a JSON string.
func inJSON(text string) string {
	quoted, _ := json.Marshal(text) // a string cannot fail
	return string(quoted[1 : len(quoted)-1])
}

// recordedRun is the recorded output and exit code of a CLI.
type recordedRun struct {
	stdout, stderr string
	status         int
	hung           bool
}

// readRun reads the files stdout, stderr and exit of a recording. A missing stream was empty.
func readRun(dir fs.FS) (r recordedRun, err error) {
	read := func(name string) string {
		data, wrong := fs.ReadFile(dir, name)
		if wrong != nil && (name == "exit" || !errors.Is(wrong, fs.ErrNotExist)) {
			err = errors.Join(err, wrong)
		}
		return string(data)
	}
	r.stdout, r.stderr = read("stdout"), read("stderr")
	exit := read("exit")
	if err != nil {
		return r, err
	}
	word, _, _ := strings.Cut(strings.TrimSpace(exit), " ")
	if word == "timeout" {
		r.hung = true
		return r, nil
	}
	if r.status, err = strconv.Atoi(word); err != nil {
		err = fmt.Errorf("exit: %q is neither an exit code nor \"timeout\"", word)
	}
	return r, err
}

// Recorded is a CLI that repeats a recorded run. It prints the files stderr and stdout of the directory and exits with
// the status in the file exit, or hangs if that file says "timeout". docs/how-to/run-the-tests.md says how to record a
// run. Recorded does not compare its arguments and stdin with the recorded files; use a [Recorder] for that. Recorded
// ends the test if the directory has no recording. [Replay] replays calls and not CLIs.
func Recorded(t TB, folder string) Scenario {
	t.Helper()
	r, err := readRun(os.DirFS(folder))
	if err != nil {
		t.Fatalf("clitest: recording %s: %v", folder, err)
	}
	steps := play(dialect.Script{Stderr: r.stderr, Exit: r.status})
	end := len(steps) - 1
	if r.hung {
		steps[end] = Step{Hang: true}
	}
	if r.stdout != "" {
		steps = append(steps[:end], Step{Stdout: r.stdout}, steps[end])
	}
	return Scenario{Steps: steps}
}
