package reading

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/specs"
)

// readingOf returns a Reading of a spec, and the events that its caller receives.
func readingOf(spec clispec.Spec, output clispec.OutputMode) (r *Reading, got *[]call.Event) {
	got = new([]call.Event)
	return &Reading{
		Name: spec.Name, Program: decode.Compile(spec.Events), Judge: judge.New(&spec), Output: output, Answer: spec.Answer,
		Emit: func(e call.Event) { *got = append(*got, e) }, Stop: func(error) {}, Ended: func() bool { return false },
	}, got
}

const codexRemark = `{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"hi"}}` + "\n"

// Text that is withheld until the end of a run is the answer only if nothing failed.
func TestWithheldTextAtTheEnd(t *testing.T) {
	for _, test := range []struct {
		name, stdout string
		result       proc.Result
		want         call.EventKind
	}{
		{"quiet end", codexRemark, proc.Result{}, call.EventText},
		{"exit code", codexRemark, proc.Result{ExitCode: 1}, call.EventThinking},
		{"stopped", codexRemark, proc.Result{Cause: context.Canceled}, call.EventThinking},
		{"failed", codexRemark + `{"type":"turn.failed","error":{"message":"boom"}}` + "\n", proc.Result{}, call.EventThinking},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, got := readingOf(specs.Codex(), clispec.OutputStream)
			stdout, _ := r.Streams()
			feed(stdout, test.stdout)
			r.Evidence(test.result, 0)
			last := (*got)[len(*got)-1]
			require.Equal(t, "hi", last.Text)
			require.Equal(t, test.want, last.Kind)
		})
	}
}

// Output in text mode is a stream of events if every line is an event, and a session shows that it is no answer.
func TestEventsInTextMode(t *testing.T) {
	const session, step = `{"type":"thread.started","thread_id":"1"}` + "\n", `{"type":"turn.started"}` + "\n"
	for _, test := range []struct {
		name, stdout string
		output       clispec.OutputMode
		afterStream  bool
		want         bool
	}{
		{"events with a session", session + codexRemark, clispec.OutputText, false, true},
		{"session at the end", codexRemark + session, clispec.OutputText, false, true},
		{"blank lines", "\n" + session + " \n" + codexRemark, clispec.OutputText, false, true},
		{"events without a session", codexRemark, clispec.OutputText, false, false},
		{"events without a session, after a stream", codexRemark, clispec.OutputText, true, true},
		{"text after events", session + "done\n", clispec.OutputText, false, false},
		{"text", "done\n", clispec.OutputText, true, false},
		{"nothing", "\n", clispec.OutputText, true, false},
		{"document", session, clispec.OutputJSON, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, _ := readingOf(specs.Codex(), test.output)
			r.AfterStream = test.afterStream
			stdout, _ := r.Streams()
			feed(stdout, test.stdout)
			require.Equal(t, test.want, r.Evidence(proc.Result{}, 0).Events)
		})
	}
}

// The warnings tell which output was not read.
func TestLostOutput(t *testing.T) {
	for _, test := range []struct {
		name, stdout string
		result       proc.Result
		skipped      int
		lost         bool
		warnings     []string
	}{
		{"all read", codexRemark, proc.Result{TreeClean: true}, 0, false, nil},
		{"long lines", codexRemark, proc.Result{TreeClean: true}, 2, true, []string{"2 lines of output were too long and were skipped"}},
		{"broken JSON", "{\"a\n{\"b\n", proc.Result{TreeClean: true}, 0, true, []string{"2 lines of output were broken JSON and were skipped"}},
		{"too much output", codexRemark, proc.Result{TreeClean: true, Cause: proc.ErrOutputLimit}, 0, true, nil},
		{"processes", codexRemark, proc.Result{}, 0, false, []string{"processes of the run may be left, because not all could be seen or ended"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, _ := readingOf(specs.Codex(), clispec.OutputStream)
			stdout, _ := r.Streams()
			feed(stdout, test.stdout)
			ev := r.Evidence(test.result, test.skipped)
			require.Equal(t, test.lost, ev.Lost)
			require.Equal(t, test.warnings, ev.Tally.Warnings)
		})
	}
}

// A line of stderr that repeats an event of stdout is no evidence, unless the event is a failure.
func TestMirroredLines(t *testing.T) {
	for _, test := range []struct {
		name, line string
		output     clispec.OutputMode
		want       bool
	}{
		{"event", codexRemark, clispec.OutputStream, true},
		{"broken event", codexRemark[:40], clispec.OutputStream, true},
		{"failure", `{"type":"turn.failed","error":{"message":"boom"}}`, clispec.OutputStream, false},
		{"unknown object", `{"a":1}`, clispec.OutputStream, false},
		{"first line of a document", "{\n", clispec.OutputStream, false},
		{"text", "hm: " + codexRemark, clispec.OutputStream, false},
		{"event in text mode", codexRemark, clispec.OutputText, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, _ := readingOf(specs.Codex(), test.output)
			require.Equal(t, test.want, r.mirrors([]byte(test.line)))
		})
	}
}

// After its prompt, codex prints the text of the model on stderr in text mode. In other modes, a line that looks like
// the start of a prompt hides nothing.
func TestStderrAfterThePrompt(t *testing.T) {
	const warning = "warning: hm"
	for output, want := range map[clispec.OutputMode]bool{clispec.OutputText: false, clispec.OutputStream: true} {
		r, _ := readingOf(specs.Codex(), output)
		line, ok := r.ownOnStderr([]byte(warning))
		require.True(t, ok)
		require.Equal(t, warning, string(line))
		for _, line := range strings.Split(strings.TrimSpace(codexUntilPrompt("hi")), "\n") {
			_, _ = r.ownOnStderr([]byte(line))
		}
		_, ok = r.ownOnStderr([]byte(warning))
		require.Equal(t, want, ok, output)
	}
}

// Events on a line with other text are removed, because they may contain the model's text. Failures stay.
func TestOwnWords(t *testing.T) {
	event, failure := strings.TrimSpace(codexRemark), `{"type":"turn.failed","error":{"message":"boom"}}`
	const service = `{"error":{"message":"overloaded"}}`
	for _, test := range []struct {
		name, line, stdout, stderr string
		lostOut, lostErr           bool
	}{
		{"text", "hm {}", "hm {}", "hm {}", false, false},
		{"event after text", "hm " + event + " so", "hm  so", "hm  so", true, true},
		{"event before text", event + " so", " so", " so", true, true},
		{"two events", "a" + event + "b" + event + "c", "abc", "abc", true, true},
		{"failure", "hm " + failure, "hm " + failure, "hm " + failure, false, false},
		{"failure before an event", failure + event, failure, failure, true, true},
		{"unknown object", `hm {"a":1} so`, "hm  so", `hm {"a":1} so`, false, false},
		{"response of a service", "hm " + service, "hm " + service, "hm " + service, false, false},
		{"broken object", `hm {"a`, "hm ", `hm {"a`, true, false},
		{"broken object at the start", `{"a`, "", `{"a`, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, _ := readingOf(specs.Codex(), clispec.OutputStream)
			line := []byte(test.line)
			own, lost := r.ownWords(line, true)
			require.Equal(t, test.stdout, string(own))
			require.Equal(t, test.lostOut, lost)
			own, lost = r.ownWords(line, false)
			require.Equal(t, test.stderr, string(own))
			require.Equal(t, test.lostErr, lost)
			require.Equal(t, test.line, string(line), "the line is unchanged")
		})
	}
}
