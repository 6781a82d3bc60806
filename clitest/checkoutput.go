package clitest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest/internal/dialect"
)

// complaint is a failed run, and where it says why.
type complaint struct {
	script dialect.Script
	field  string // of the rule that reads it, or "stderr" or "stdout"
}

// complaints are the ways in which the CLI can say a text in an output mode, each with exit status 1.
func complaints(spec clispec.Spec, v voice, text string) (all []complaint) {
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

// wordings finds words of a failure that are read as another one, or as none.
func (s *subject) wordings(TB) (found []problem) {
	for _, output := range s.spec.OutputModes() {
		v := s.voice(output)
		for _, reason := range slices.Sorted(maps.Keys(sayings)) {
			for _, text := range sayings[reason] {
				found = append(found, s.misread(v, reason, text)...)
			}
		}
	}
	for _, output := range s.structured() {
		v := s.voice(output)
		for _, status := range slices.Sorted(maps.Keys(statuses)) {
			found = append(found, s.misreadStatus(v, status)...)
		}
	}
	explained := slices.ContainsFunc(s.spec.Events, func(r clispec.EventRule) bool {
		return r.Kind == call.EventError && says(r)
	})
	for i, rule := range s.spec.Events {
		if dialect.Reports(rule) && !says(rule) && !(rule.Terminal && explained) {
			found = append(found, problemf(fmt.Sprintf("events[%d].set", i), "says nothing of the failure, so that it has "+
				"no Reason: set message, code or status"))
		}
	}
	return first(found)
}

// says reports whether a rule of a failure takes words or a status from it.
func says(r clispec.EventRule) bool {
	return r.Set["message"]+r.Set["text"]+r.Set["code"]+r.Set["status"] != ""
}

// misread finds the places where a text is not read as its reason.
func (s *subject) misread(v voice, reason call.Reason, text string) (found []problem) {
	for i, c := range complaints(s.spec, v, text) {
		got := reasonOf(v.Judge(c.script).Failure)
		if got == reason || answered(v, c.script.Lines) { // exitZero says that
			continue
		}
		field := blame(s.spec, c.field, func(other clispec.Spec) bool {
			v := voice{dialect.New(&other, v.Output), other}
			all := complaints(other, v, text)
			return i >= len(all) || all[i].field != c.field || reasonOf(v.Judge(c.script).Failure) != reason
		})
		found = append(found, problemf(field, "%q in %s is read as %s, not as %s: make the pattern narrower, or say with "+
			"on: where it applies", text, c.field, got, reason))
	}
	return found
}

// misreadStatus finds the events in which a status is not read as its reason.
func (s *subject) misreadStatus(v voice, status int) (found []problem) {
	for _, c := range v.Statuses(status) {
		out := v.Judge(dialect.Script{Lines: []string{c.Line}, Exit: 1})
		if got := reasonOf(out.Failure); got != statuses[status] && !answered(v, []string{c.Line}) {
			found = append(found, problemf(fmt.Sprintf("events[%d].set.status", c.Rule), "status %d is read as %s, not as %s: "+
				"another rule takes the event, or sets other words", status, got, statuses[status]))
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

// exitZero finds events of a failure after which exit status 0 makes an answer.
func (s *subject) exitZero(TB) (found []problem) {
	for _, output := range s.structured() {
		v := s.voice(output)
		for _, c := range v.Complaints("kaput") {
			if answered(v, []string{c.Line}) {
				found = append(found, problemf(fmt.Sprintf("events[%d]", c.Rule), "with exit status 0 the text before this "+
					"event of a failure is judged as the answer, because another rule takes the event for a result: add last: true"))
			}
		}
	}
	return first(found)
}

// answered reports whether a run that says something, then prints these lines and exits with status 0 is judged as an
// answer, and the whole of it.
func answered(v voice, lines []string) bool {
	out := v.Judge(dialect.Script{Lines: append(v.Remark("Let me see."), lines...)})
	return len(lines) > 0 && out.Failure == nil && len(out.Flags) == 0
}

// cutShort finds places where an answer can be cut, and is taken for whole.
func (s *subject) cutShort(TB) (found []problem) {
	for _, output := range s.structured() {
		v := s.voice(output)
		whole, err := v.answer(plainAnswer)
		if err != nil {
			continue // answers has said so
		}
		for _, cut := range cuts(whole.Lines) {
			if !taken(v, cut.stdout) {
				continue
			}
			field := blame(s.spec, "events", func(other clispec.Spec) bool {
				return other.Validate() != nil || taken(voice{dialect.New(&other, output), other}, cut.stdout)
			})
			found = append(found, problemf(field, "an answer that was cut %s of %d lines counts as whole: let only the event "+
				"that states the outcome be terminal", cut.where, len(whole.Lines)))
		}
	}
	return first(found)
}

type cut struct{ stdout, where string }

// cuts are the beginnings of an output, each after a line and in the middle of the next.
func cuts(lines []string) (all []cut) {
	before := ""
	for i, line := range lines {
		all = append(all, cut{before, fmt.Sprintf("after %d", i)},
			cut{before + line[:len(line)/2], fmt.Sprintf("within line %d", i+1)})
		before += line + "\n"
	}
	return all
}

// taken reports whether a run that printed this, and then was killed or ended, has the whole of an answer.
func taken(v voice, stdout string) bool {
	killed := v.Cut(stdout)
	ended := v.Judge(dialect.Script{Lines: []string{stdout}})
	return killed.Failure == nil || ended.Failure == nil && len(ended.Flags) == 0
}
