package clitest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest/internal/dialect"
)

// TestSpec puts a spec through all that can be told of it without its CLI: how it is started for a request, with what,
// and how what it prints is judged. A fake stands in for the CLI, which speaks as the spec's own rules say; what the
// CLI really prints, only a run of it can tell. Each check is a subtest. What it finds names the field of the spec and
// says what to do:
//
//	valid       Spec.Validate finds nothing; with a mistake nothing else is tested
//	answers     a plain prompt has its answer, in each output mode; without, nothing else is run
//	bypass      below access full there is nothing of what access full adds, nor a known bypass, and a
//	            permission_mode that stands for it is refused by a rule of preflight
//	stdin       a prompt that can travel on stdin does, and is in no argument and no variable
//	prompts     one that begins with "-" or "/", or has "@file", NUL, a megabyte or no UTF-8, arrives as it is or is
//	            refused before anything starts
//	options     each option of a request reaches an argument, a variable, a file or the prompt, or is refused
//	wordings    what services say of logins, limits, overload and the like is read as its Reason, on stderr and in
//	            each of the spec's own events of a failure
//	exit_zero   exit status 0 after such an event is no answer
//	cut_short   an answer that is cut after, or in, any of its lines is not taken for the whole
//	secrets     the value of a key, the system text and the prompt are in no argument, error, log or hook
//	cancel      a call that is canceled leaves no process
//	timeout     nor does one that runs out of time
//
// The test binary must call [Main] first in TestMain. TestSpec sets variables of the process, so that it is for no test
// that runs in parallel with others. It starts some fifty processes, which takes a few seconds.
func TestSpec(t *testing.T, spec clispec.Spec) {
	t.Helper()
	isolate(t, spec)
	s := &subject{spec: spec, complete: clichain.Backend.Complete}
	s.check(func(c check) bool {
		return t.Run(c.name, func(t *testing.T) {
			for _, p := range c.find(s, t) {
				t.Error(p)
			}
		})
	})
}

// check is one thing that must be true of a spec.
type check struct {
	name  string
	after string // the check without which it makes no sense
	find  func(*subject, TB) []problem
}

var checks = []check{
	{"valid", "", (*subject).valid},
	{"answers", "valid", (*subject).answers},
	{"bypass", "valid", (*subject).bypass},
	{"stdin", "valid", (*subject).promptOnStdin},
	{"prompts", "answers", (*subject).oddPrompts},
	{"options", "valid", (*subject).options},
	{"wordings", "valid", (*subject).wordings},
	{"exit_zero", "valid", (*subject).exitZero},
	{"cut_short", "valid", (*subject).cutShort},
	{"secrets", "answers", (*subject).secrets},
	{"cancel", "answers", (*subject).cancel},
	{"timeout", "answers", (*subject).timeout},
}

// check makes all checks that make sense after those before, as passes says of each.
func (s *subject) check(passes func(check) bool) {
	passed := map[string]bool{"": true}
	for _, c := range checks {
		passed[c.name] = passed[c.after] && passes(c)
	}
}

// problem is something wrong with a spec.
type problem struct {
	field string // such as "args[3].when"
	what  string // is wrong with it, and what to do
}

func (p problem) String() string { return p.field + ": " + p.what }

func problemf(field, format string, args ...any) problem {
	return problem{field, fmt.Sprintf(format, args...)}
}

// subject is the spec under test.
type subject struct {
	spec     clispec.Spec
	complete completer
}

// voice speaks for the subject in an output mode.
func (s *subject) voice(output clispec.OutputMode) voice {
	return voice{dialect.New(&s.spec, output), s.spec}
}

// structured are the output modes whose output is read by event rules.
func (s *subject) structured() []clispec.OutputMode {
	return slices.DeleteFunc(slices.Clone(s.spec.OutputModes()), func(output clispec.OutputMode) bool {
		return output == clispec.OutputText
	})
}

// isolate keeps what is set on this machine, and what is kept on it, out of the test.
func isolate(t *testing.T, spec clispec.Spec) {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	for _, name := range []string{spec.Name, spec.ProviderSlug} {
		for variable, ok := clichain.SuppressedBy(name); ok; variable, ok = clichain.SuppressedBy(name) {
			t.Setenv(variable, "")
		}
	}
}

func (s *subject) valid(TB) (found []problem) {
	all, several := s.spec.Validate().(interface{ WrappedErrors() []error })
	if !several {
		return nil
	}
	for _, err := range all.WrappedErrors() {
		if mistake, ok := errors.AsType[*clispec.Error](err); ok {
			found = append(found, problem{mistake.Path, strings.TrimPrefix(mistake.Error(), mistake.Path+": ")})
		}
	}
	return found
}

// blame names the row of the spec without which a fault is gone; the name of a field, where no single row is at fault.
func blame(spec clispec.Spec, otherwise string, faulty func(clispec.Spec) bool) string {
	for _, table := range []struct {
		name string
		rows int
		drop func(s *clispec.Spec, i int)
	}{
		{"args", len(spec.Args), func(s *clispec.Spec, i int) { s.Args = without(s.Args, i) }},
		{"env", len(spec.Env), func(s *clispec.Spec, i int) { s.Env = without(s.Env, i) }},
		{"files", len(spec.Files), func(s *clispec.Spec, i int) { s.Files = without(s.Files, i) }},
		{"guards", len(spec.Guards), func(s *clispec.Spec, i int) { s.Guards = without(s.Guards, i) }},
		{"events", len(spec.Events), func(s *clispec.Spec, i int) { s.Events = without(s.Events, i) }},
		{"lines", len(spec.Lines), func(s *clispec.Spec, i int) { s.Lines = without(s.Lines, i) }},
	} {
		for i := range table.rows {
			other := spec
			table.drop(&other, i)
			if !faulty(other) {
				return fmt.Sprintf("%s[%d]", table.name, i)
			}
		}
	}
	return otherwise
}

// first leaves out all but the first problem of each field.
func first(found []problem) []problem {
	slices.SortStableFunc(found, func(a, b problem) int { return strings.Compare(a.field, b.field) })
	return slices.CompactFunc(found, func(a, b problem) bool { return a.field == b.field })
}

func without[T any](rows []T, i int) []T { return slices.Delete(slices.Clone(rows), i, i+1) }
