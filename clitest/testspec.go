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

// TestSpec checks a spec as far as possible without its CLI: the start of the CLI for a request, and the judgment of
// its output. A fake stands in for the CLI and prints output that the rules of the spec accept. Only a run of the real
// CLI shows whether it prints such output. Each check is a subtest. A failure names the field of the spec
// and the remedy:
//
//	valid       Spec.Validate finds no mistake; otherwise no other check runs
//	answers     a plain prompt has its answer in each output mode; otherwise no other fake runs
//	bypass      below access full, no argument of access full and no known bypass appears, and a rule of preflight
//	            refuses a permission_mode that stands for a bypass
//	stdin       a prompt that can travel on stdin does, and is in no argument and no variable
//	prompts     a prompt that begins with "-" or "/", or contains "@file", NUL, a megabyte or invalid UTF-8, arrives
//	            unchanged or is refused before the CLI starts
//	options     each option of a request reaches an argument, a variable, a file or the prompt, or is refused
//	wordings    messages about logins, limits, overload and the like lead to their Reason, on stderr and in each
//	            failure event of the spec
//	exit_zero   exit code 0 after a failure event is no answer
//	cut_short   an answer that is cut after or within any of its lines does not count as complete
//	secrets     keys, the system text and the prompt are in no argument, error, log or hook
//	cancel      a canceled call leaves no process
//	timeout     a call that times out leaves no process
//
// The test binary must call [Main] first in TestMain. TestSpec sets environment variables of the process, so the test
// must not run in parallel with others. It starts about fifty processes, which takes a few seconds.
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

// check is one requirement of a spec.
type check struct {
	name  string
	after string // name of the check that must pass first
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

// check runs all checks whose preconditions hold. passes runs a check and reports its success.
func (s *subject) check(passes func(check) bool) {
	passed := map[string]bool{"": true}
	for _, c := range checks {
		passed[c.name] = passed[c.after] && passes(c)
	}
}

// problem is a mistake in a spec.
type problem struct {
	field string // such as "args[3].when"
	what  string // the mistake, and the remedy
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

// printer returns the printer for an output mode of the spec.
func (s *subject) printer(output clispec.OutputMode) printer {
	return printer{dialect.New(&s.spec, output), s.spec}
}

// structured returns the output modes that event rules read.
func (s *subject) structured() []clispec.OutputMode {
	return slices.DeleteFunc(slices.Clone(s.spec.OutputModes()), func(output clispec.OutputMode) bool {
		return output == clispec.OutputText
	})
}

// isolate hides the settings and the state of this machine from the test.
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

// blame names the row of the spec without which a fault disappears. It returns otherwise if no single row causes the
// fault.
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

// first keeps only the first problem of each field.
func first(found []problem) []problem {
	slices.SortStableFunc(found, func(a, b problem) int { return strings.Compare(a.field, b.field) })
	return slices.CompactFunc(found, func(a, b problem) bool { return a.field == b.field })
}

func without[T any](rows []T, i int) []T { return slices.Delete(slices.Clone(rows), i, i+1) }
