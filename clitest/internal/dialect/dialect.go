// Package dialect writes the output of a CLI by applying the rules of its spec in reverse. It names no CLI and starts
// nothing. It judges each output like a run, so that the library reads it as intended.
package dialect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/reading"
)

// Dialect writes the output of one CLI in one output mode. It is immutable and safe for concurrent use.
type Dialect struct {
	Output clispec.OutputMode
	spec   *clispec.Spec

	program  *decode.Program
	replayer *reading.Replayer
}

// Script is the whole output of a run, and its exit code.
type Script struct {
	Lines  []string // of standard output, without line breaks
	Stderr string
	Exit   int
}

// Stdout returns the whole standard output.
func (s Script) Stdout() string {
	if len(s.Lines) == 0 {
		return ""
	}
	return strings.Join(s.Lines, "\n") + "\n"
}

// New returns the dialect of a spec that passed Validate.
func New(spec *clispec.Spec, output clispec.OutputMode) *Dialect {
	return &Dialect{Output: output, spec: spec, program: decode.Compile(spec.Events), replayer: reading.NewReplayer(spec)}
}

// Judge returns the outcome of a run with this output.
func (d *Dialect) Judge(s Script) reading.Outcome {
	return d.replayer.Replay(reading.Recording{
		Output: d.Output, Stdout: s.Stdout(), Stderr: s.Stderr, ExitCode: s.Exit, Now: time.Now(),
	})
}

// Cut returns the outcome of a run that was killed after this output.
func (d *Dialect) Cut(stdout string) reading.Outcome {
	return d.replayer.Replay(reading.Recording{
		Output: d.Output, Stdout: stdout, ExitCode: -1, Signal: "SIGKILL", Now: time.Now(),
	})
}

// Answer returns a run that answers with the text.
func (d *Dialect) Answer(text string) (Script, error) {
	if d.Output == clispec.OutputText {
		return Script{Lines: []string{text}}, nil
	}
	for _, lines := range d.answers(text) {
		if s := (Script{Lines: lines}); d.Answers(s, text) {
			return s, nil
		}
	}
	return Script{}, fmt.Errorf("no event rules recognize an answer in their own output "+
		"in mode %s: add a delta, text or result that sets text from a plain path, and a terminal result", d.Output)
}

// Answers reports whether a run with this output has the text as its complete answer.
func (d *Dialect) Answers(s Script, text string) bool {
	out := d.Judge(s)
	return out.Failure == nil && len(out.Flags) == 0 && strings.TrimSpace(out.Text) == strings.TrimSpace(text)
}

// answers returns the sequences of events that the rules may expect of an answer, those with more events first.
func (d *Dialect) answers(text string) (all [][]string) {
	begin, runes := d.session(), []rune(text)
	deltas, whole := [][]string{nil}, d.saying(call.EventText, text)
	half := len(runes) / 2
	first, second := d.saying(call.EventDelta, string(runes[:half])), d.saying(call.EventDelta, string(runes[half:]))
	if len(first) > 0 && len(second) > 0 {
		deltas = [][]string{{first[0], second[0]}, nil}
	}
	for _, pieces := range deltas {
		for _, block := range append(whole, "") {
			for _, end := range d.ends(text) {
				lines := slices.Concat(begin, pieces, []string{block, end})
				all = append(all, slices.DeleteFunc(lines, func(l string) bool { return l == "" }))
			}
		}
	}
	if d.Output == clispec.OutputJSON {
		return d.documents(text, all)
	}
	return all
}

// documents returns answers as one JSON document: a single object, or the list of the events.
func (d *Dialect) documents(text string, events [][]string) (all [][]string) {
	for _, end := range d.ends(text) {
		all = append(all, []string{end})
	}
	for _, lines := range events {
		all = append(all, []string{"[" + strings.Join(lines, ",") + "]"})
	}
	return all
}

// session returns the event that names the session, if the spec has one.
func (d *Dialect) session() []string {
	id, ok := Sample(d.spec.Sessions.ID)
	if !ok || id == "" {
		id = "session-1"
	}
	for _, kind := range []call.EventKind{call.EventSession, call.EventStatus} {
		for _, rule := range d.spec.Events {
			line, ok := write(rule, map[string]any{"session": id})
			if ok && rule.Kind == kind && d.reads(line, func(e *decode.Item) bool { return e.Kind == kind && e.Session == id }) {
				return []string{line}
			}
		}
	}
	return nil
}

// Remark returns the lines of a text that is not the final answer, none if the CLI has no such lines.
func (d *Dialect) Remark(text string) []string {
	lines := append(d.saying(call.EventText, text), d.saying(call.EventDelta, text)...)
	return lines[:min(1, len(lines))]
}

// saying returns lines with an event of the kind that contains the text and does not end a run.
func (d *Dialect) saying(kind call.EventKind, text string) (lines []string) {
	for _, rule := range d.spec.Events {
		if rule.Kind != kind || text == "" {
			continue
		}
		line, ok := write(rule, map[string]any{"text": text})
		if ok && d.reads(line, func(e *decode.Item) bool { return e.Kind == kind && e.Text == text }) {
			lines = append(lines, line)
		}
	}
	return lines
}

// ends returns lines that are a result, those with the fewest fields first. They contain the text if a rule reads it.
func (d *Dialect) ends(text string) (lines []string) {
	rules := slices.Clone(d.spec.Events)
	slices.SortStableFunc(rules, func(a, b clispec.EventRule) int { return len(a.Match) - len(b.Match) })
	for _, rule := range rules {
		if rule.Kind != call.EventResult || !rule.Terminal {
			continue
		}
		line, ok := write(rule, map[string]any{"text": text})
		if ok && d.reads(line, func(e *decode.Item) bool { return e.Kind == call.EventResult && e.Terminal && !e.Failed }) {
			lines = append(lines, line)
		}
	}
	return lines
}

// reads reports whether the rules produce a matching event from a line.
func (d *Dialect) reads(line string, want func(*decode.Item) bool) bool {
	var scratch decode.Scratch
	items, _ := d.program.Line(&scratch, []byte(line))
	for i := range items {
		if want(&items[i]) {
			return true
		}
	}
	return false
}
