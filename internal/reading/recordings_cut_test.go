package reading

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/norace"
	"github.com/clichain/clichain/specs"
)

// eventLine contains the fields that identify the last event of a stream.
type eventLine struct {
	Type     string
	Part     struct{ Reason string }
	Messages []struct{ StopReason string }
}

// lastWords report, without the specs, whether a line is the CLI's last event.
var lastWords = map[string]func(eventLine) bool{
	"claude":   func(e eventLine) bool { return e.Type == "result" },
	"codex":    func(e eventLine) bool { return e.Type == "turn.completed" || e.Type == "turn.failed" },
	"gemini":   func(e eventLine) bool { return e.Type == "result" },
	"qwen":     func(e eventLine) bool { return e.Type == "result" },
	"opencode": func(e eventLine) bool { return e.Type == "step_finish" && e.Part.Reason != "tool-calls" },
	"copilot":  func(e eventLine) bool { return e.Type == "result" },
	"kimi":     func(e eventLine) bool { return e.Type == "session.resume_hint" },
	"kilo": func(e eventLine) bool {
		return e.Type == "step_finish" && e.Part.Reason != "tool-calls" || e.Type == "error"
	},
	"cline": func(e eventLine) bool { return e.Type == "run_result" },
	// After an error, the CLI may retry.
	"pi": func(e eventLine) bool {
		return e.Type == "agent_end" && e.Messages[len(e.Messages)-1].StopReason != "error"
	},
}

// Each recorded stream is cut after lines and within lines. There is an answer only if the CLI's last event was
// complete, and then the same answer as in the whole recording. Otherwise the reason is the kill, or a failure
// that the CLI had reported.
func TestRecordingsCutShort(t *testing.T) {
	for name := range lastWords {
		t.Run(name, func(t *testing.T) {
			spec, ok := specs.ByName(name)
			require.True(t, ok)
			replay := ReplayBy(spec)
			seen := 0
			for _, path := range recorded(t, "recordings", name) {
				rec := readRecording(t, path)
				if rec.Output != clispec.OutputStream {
					continue
				}
				seen++
				var want []verdictRun
				if !everyCut && !*update {
					want = cutVerdicts(t, path)
				}
				requireExpected(t, path, "cut", cutShort(t, name, replay, rec, path, want))
			}
			require.Positive(t, seen)
		})
	}
}

// everyCut cuts after and within each line, in the long form of the tests. The short form cuts where the
// verdict changes, before and after each last event, and after every eighth line from a random one, with the race
// detector every fortieth.
var everyCut = os.Getenv("CLICHAIN_CONFORMANCE") == "long"

var cutDistance = norace.Times(8, 40)

// cutVerdicts returns the expected verdicts on a recording that is cut, in the order of its lines.
func cutVerdicts(t *testing.T, path string) (all []verdictRun) {
	t.Helper()
	var runs []string
	require.NoError(t, json.Unmarshal(readRun(t, path).Expected["cut"], &runs))
	for _, run := range runs {
		numbers, verdict, _ := strings.Cut(run, " ")
		first, last, isRange := strings.Cut(numbers, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		require.NoError(t, err)
		to, err := strconv.Atoi(last)
		require.NoError(t, err)
		all = append(all, verdictRun{verdict, from, to})
	}
	return all
}

// cutShort judges a recording cut after lines, and returns the verdicts with the line numbers. For a cut that
// it omits, it uses the expected verdict.
func cutShort(t *testing.T, name string, replay ReplayFunc, rec Recording, path string, want []verdictRun) []string {
	t.Helper()
	offset := rand.N(cutDistance)
	t.Logf("%s: every line number %d from %d", path, cutDistance, offset)
	whole, _, wholeFailure, _ := replay(rec)
	lines := strings.SplitAfter(rec.Stdout, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	rec.ExitCode, rec.TimedOut, rec.Signal = -1, false, "SIGKILL"
	silent := reasonOfStderr(replay, rec)
	var runs runLengths
	said, complained := false, false
	for n := 0; n <= len(lines); n++ {
		at := fmt.Sprintf("%s after %d lines", path, n)
		if n > 0 {
			said = said || isLastWord(t, name, lines[n-1])
		}
		last := n > 0 && isLastWord(t, name, lines[n-1]) || n < len(lines) && isLastWord(t, name, lines[n])
		if verdict, inside := insideRun(want, n); inside && !last && n%cutDistance != offset {
			runs.add(verdict)
			continue
		}
		rec.Stdout = strings.Join(lines[:n], "")
		text, _, failure, events := replay(rec)
		complained = complained || complains(events)
		verdict := "ok"
		if failure != nil {
			verdict = string(failure.Reason)
		}
		switch {
		case failure == nil:
			require.True(t, said, "%s: an answer without a last event", at)
			require.Equal(t, whole, text, at)
		case said:
			require.NotNil(t, wholeFailure, "%s: the answer is lost", at)
		case !complained:
			require.Contains(t, []call.Reason{call.ReasonKilled, silent}, failure.Reason, at)
		}
		if n < len(lines) && (everyCut || last || n%cutDistance == offset) { // a part of a line is no evidence
			rec.Stdout += lines[n][:len(lines[n])/2]
			partText, _, partFailure, _ := replay(rec)
			require.Equal(t, text, partText, at)
			require.Equal(t, reasonOf(failure), reasonOf(partFailure), at)
		}
		runs.add(verdict)
	}
	return runs.strings()
}

func isLastWord(t *testing.T, name, line string) bool {
	t.Helper()
	var e eventLine
	return json.Unmarshal([]byte(line), &e) == nil && lastWords[name](e)
}

// complains reports whether the CLI has reported a failure.
func complains(events []call.Event) bool {
	for _, e := range events {
		if e.Kind == call.EventError || e.Kind == call.EventRetry || e.Failed {
			return true
		}
	}
	return false
}

// reasonOfStderr returns the verdict on a run without output on stdout.
func reasonOfStderr(replay ReplayFunc, rec Recording) call.Reason {
	rec.Stdout = ""
	_, _, failure, _ := replay(rec)
	return reasonOf(failure)
}

func reasonOf(failure *call.Error) call.Reason {
	if failure == nil {
		return ""
	}
	return failure.Reason
}

// insideRun returns the verdict of the run that has a line between its first and its last one.
func insideRun(runs []verdictRun, n int) (verdict string, ok bool) {
	for _, run := range runs {
		if run.first < n && n < run.last {
			return run.verdict, true
		}
	}
	return "", false
}

// runLengths is a list of verdicts in which equal neighbors are merged.
type runLengths struct {
	n    int
	runs []verdictRun
}

type verdictRun struct {
	verdict     string
	first, last int
}

func (r *runLengths) add(verdict string) {
	if k := len(r.runs); k > 0 && r.runs[k-1].verdict == verdict {
		r.runs[k-1].last = r.n
	} else {
		r.runs = append(r.runs, verdictRun{verdict, r.n, r.n})
	}
	r.n++
}

func (r *runLengths) strings() (all []string) {
	for _, run := range r.runs {
		lines := fmt.Sprint(run.first)
		if run.last > run.first {
			lines = fmt.Sprintf("%d-%d", run.first, run.last)
		}
		all = append(all, lines+" "+run.verdict)
	}
	return all
}
