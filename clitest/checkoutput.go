package clitest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest/internal/dialect"
)

// complaint is a failed run with a reason in one place.
type complaint struct {
	script dialect.Script
	field  string // field of the rule that reads it, or "stderr" or "stdout"
}

// complaints returns failed runs that print the text, one for each place in an output mode where the CLI can print it.
// The exit code is 1.
func complaints(spec clispec.Spec, v printer, text string) (all []complaint) {
	all = []complaint{{dialect.Script{Stderr: text + "\n", Exit: 1}, "stderr"}}
	if v.Output == clispec.OutputText {
		if !spec.Text.AnswerOnly {
			all = append(all, complaint{dialect.Script{Lines: []string{text}, Exit: 1}, "stdout"})
		}
		return all
	}
	for _, c := range v.Complaints(text) {
		all = append(all, complaint{dialect.Script{Lines: []string{c.Line}, Exit: 1}, fmt.Sprintf("events[%d]", c.Rule)})
	}
	return all
}

// wordings finds texts of failures that the spec classifies as the wrong reason, or as none.
func (s *subject) wordings(TB) (found []problem) {
	for _, output := range s.spec.OutputModes() {
		v := s.printer(output)
		for _, reason := range slices.Sorted(maps.Keys(sayings)) {
			for _, text := range sayings[reason] {
				found = append(found, s.misread(v, reason, text)...)
			}
		}
	}
	for _, output := range s.structured() {
		v := s.printer(output)
		for _, status := range slices.Sorted(maps.Keys(statuses)) {
			found = append(found, s.misreadStatus(v, status)...)
		}
	}
	explained := slices.ContainsFunc(s.spec.Events, func(r clispec.EventRule) bool {
		return r.Kind == call.EventError && says(r)
	})
	for i, rule := range s.spec.Events {
		if dialect.Reports(rule) && !says(rule) && !(rule.Terminal && explained) {
			found = append(found, problemf(fmt.Sprintf("events[%d].set", i), "has no text of the failure, so it has "+
				"no Reason: set message, code or status"))
		}
	}
	return first(found)
}

// says reports whether a rule of a failure reads a text or a status.
func says(r clispec.EventRule) bool {
	return r.Set["message"]+r.Set["text"]+r.Set["code"]+r.Set["status"] != ""
}

// misread finds the places in which the spec does not classify a text as its reason.
func (s *subject) misread(v printer, reason call.Reason, text string) (found []problem) {
	for i, c := range complaints(s.spec, v, text) {
		got := reasonOf(v.Judge(c.script).Failure)
		if got == reason || answered(v, c.script.Lines) { // exitZero reports that case
			continue
		}
		field := blame(s.spec, c.field, func(other clispec.Spec) bool {
			v := printer{dialect.New(&other, v.Output), other}
			all := complaints(other, v, text)
			return i >= len(all) || all[i].field != c.field || reasonOf(v.Judge(c.script).Failure) != reason
		})
		found = append(found, problemf(field,
			"%q in %s is classified as %s, not as %s: make the pattern narrower, or "+
				"restrict it with on", text, c.field, got, reason))
	}
	return found
}

// misreadStatus finds the events in which the spec does not classify a status as its reason.
func (s *subject) misreadStatus(v printer, status int) (found []problem) {
	for _, c := range v.Statuses(status) {
		out := v.Judge(dialect.Script{Lines: []string{c.Line}, Exit: 1})
		if got := reasonOf(out.Failure); got != statuses[status] && !answered(v, []string{c.Line}) {
			found = append(found, problemf(fmt.Sprintf("events[%d].set.status", c.Rule),
				"status %d is classified as %s, not as %s: "+
					"another rule matches the event, or sets another text", status, got, statuses[status]))
		}
	}
	return found
}

func reasonOf(err *call.Error) call.Reason {
	if err == nil {
		return "an answer"
	}
	return err.Reason
}

// exitZero finds failure events after which exit code 0 counts as an answer.
func (s *subject) exitZero(TB) (found []problem) {
	for _, output := range s.structured() {
		v := s.printer(output)
		for _, c := range v.Complaints("kaput") {
			if answered(v, []string{c.Line}) {
				found = append(found, problemf(fmt.Sprintf("events[%d]", c.Rule), "with exit code 0 the text before this "+
					"failure event counts as the answer, because another rule matches the event as a result: add last: true"))
			}
		}
	}
	return first(found)
}

// answered reports whether a run that prints a text and then these lines, and exits with code 0, counts as a complete
// answer.
func answered(v printer, lines []string) bool {
	out := v.Judge(dialect.Script{Lines: append(v.Remark("Let me see."), lines...)})
	return len(lines) > 0 && out.Failure == nil && len(out.Flags) == 0
}

// cutShort finds positions at which a truncated answer counts as complete.
func (s *subject) cutShort(TB) (found []problem) {
	for _, output := range s.structured() {
		v := s.printer(output)
		whole, err := v.answer(plainAnswer)
		if err != nil {
			continue // the check answers reports that case
		}
		for _, cut := range cuts(whole.Lines) {
			if !taken(v, cut.stdout) {
				continue
			}
			field := blame(s.spec, "events", func(other clispec.Spec) bool {
				return other.Validate() != nil || taken(printer{dialect.New(&other, output), other}, cut.stdout)
			})
			found = append(found, problemf(field, "an answer that ends %s of %d lines counts as complete: make only the event "+
				"that states the outcome be terminal", cut.where, len(whole.Lines)))
		}
	}
	return first(found)
}

type cut struct{ stdout, where string }

// cuts returns the truncated forms of an output: after each line, and in the middle of the next line.
func cuts(lines []string) (all []cut) {
	before := ""
	for i, line := range lines {
		all = append(all, cut{before, fmt.Sprintf("after %d", i)},
			cut{before + line[:len(line)/2], fmt.Sprintf("within line %d", i+1)})
		before += line + "\n"
	}
	return all
}

// taken reports whether a run that printed this and was then killed, or exited, counts as complete.
func taken(v printer, stdout string) bool {
	killed := v.Cut(stdout)
	ended := v.Judge(dialect.Script{Lines: []string{stdout}})
	return killed.Failure == nil || ended.Failure == nil && len(ended.Flags) == 0
}
