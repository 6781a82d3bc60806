package specs

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/clichain/clichain/clispec"
)

// Lint reads specs as [Load] does, and returns all problems instead of an
// error: the mistakes, or where there are none the warnings, which tell of
// what is legal and probably not meant. With a mistake there are no specs. The
// error is the reader's.
func Lint(r io.Reader) ([]clispec.Spec, []*Problem, error) {
	f, err := read(r)
	if err != nil {
		return nil, nil, err
	}
	if len(f.problems) > 0 {
		return nil, f.problems, nil
	}
	for i := range f.specs {
		l := &linter{file: f, at: f.roots[i], spec: &f.specs[i]}
		for _, check := range lints {
			check(l)
		}
	}
	f.sort()
	return f.specs, f.problems, nil
}

// linter looks for what is suspicious in one valid spec.
type linter struct {
	file *file
	at   root
	spec *clispec.Spec
}

var lints = []func(*linter){
	(*linter).conditions, (*linter).templates, (*linter).promptOnce, (*linter).unused,
	(*linter).eventOrder, (*linter).eventValues, (*linter).answers, (*linter).lines, (*linter).hints,
}

func (l *linter) warn(path, format string, args ...any) {
	l.file.problem(l.at.node.Find(path, ""), l.at.join(path), fmt.Sprintf(format, args...)).Warning = true
}

func (l *linter) outputs() []clispec.OutputMode {
	return orElse(l.spec.Outputs, clispec.OutputText)
}

func (l *linter) transports() []clispec.Transport {
	return orElse(l.spec.Transports, clispec.TransportArgv)
}

func orElse[T any](list []T, deflt T) []T {
	if len(list) == 0 {
		return []T{deflt}
	}
	return list
}

// row is what all tables have.
type row struct {
	path      string
	when      clispec.When
	templates []string
}

func (l *linter) rows() (rows []row) {
	for i, r := range l.spec.Args {
		rows = append(rows, row{fmt.Sprintf("args[%d]", i), r.When, r.Args})
	}
	for i, r := range l.spec.Env {
		rows = append(rows, row{fmt.Sprintf("env[%d]", i), r.When, []string{r.Value}})
	}
	for i, r := range l.spec.Files {
		rows = append(rows, row{fmt.Sprintf("files[%d]", i), r.When, []string{r.Content}})
	}
	for i, r := range l.spec.Preflight {
		rows = append(rows, row{fmt.Sprintf("preflight[%d]", i), r.When, nil})
	}
	return rows
}

// conditions finds those that never hold.
func (l *linter) conditions() {
	for _, r := range l.rows() {
		for i, field := range r.when.Unset {
			if slices.Contains(r.when.Set, field) || field == "prompt" {
				l.warn(fmt.Sprintf("%s.when.unset[%d]", r.path, i), "never holds: %s is set", field)
			}
		}
		if !meets(r.when.Output, l.outputs()) {
			l.warn(r.path+".when.output", "never holds: outputs has %q", l.outputs())
		}
		if !meets(r.when.Transport, l.transports()) {
			l.warn(r.path+".when.transport", "never holds: transports has %q", l.transports())
		}
	}
}

func meets[T comparable](wanted, there []T) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w T) bool { return slices.Contains(there, w) })
}

var (
	placeholder = regexp.MustCompile(`\{[a-z][a-z0-9_]*(:json|:text|:list)?\}`)
	almostOne   = regexp.MustCompile(`\{ *[A-Za-z][A-Za-z0-9_-]* *(: *[A-Za-z]* *)?\}`)
)

// templates finds what looks like a field and is none.
func (l *linter) templates() {
	for _, r := range l.rows() {
		for _, template := range r.templates {
			for _, text := range almostOne.FindAllString(template, -1) {
				if !placeholder.MatchString(text) {
					l.warn(r.path, "%s goes to the CLI as it is: fields are {name}, {name:json}, {name:text} and {name:list}, in lower case", text)
				}
			}
		}
	}
	for i, r := range l.spec.Args {
		if r.Each != "" && !names(r.Args, r.Each) {
			l.warn(fmt.Sprintf("args[%d].each", i), "repeats the same arguments: none has {%s}", r.Each)
		}
	}
}

// names reports whether one of the templates has the field.
func names(templates []string, field string) bool {
	return slices.ContainsFunc(templates, func(t string) bool {
		return strings.Contains(t, "{"+field+"}") || strings.Contains(t, "{"+field+":")
	})
}

// promptOnce finds arguments that repeat what standard input has.
func (l *linter) promptOnce() {
	for i, r := range l.spec.Args {
		if slices.Contains(l.transports(), clispec.TransportStdin) && meets(r.When.Transport, []clispec.Transport{clispec.TransportStdin}) && names(r.Args, "prompt") {
			l.warn(fmt.Sprintf("args[%d]", i), "passes the prompt, which standard input has already: add when: {transport: [argv]}")
		}
	}
}

// unused finds what another part makes useless.
func (l *linter) unused() {
	s := l.spec
	var templates []string
	for _, r := range l.rows() {
		templates = append(templates, r.templates...)
	}
	for i, f := range s.Files {
		if !names(templates, f.Field+"_file") {
			l.warn(fmt.Sprintf("files[%d]", i), "is never used: no row has {%s_file}", f.Field)
		}
	}
	for i, name := range s.PassEnv {
		if slices.Contains(s.DropEnv, name) {
			l.warn(fmt.Sprintf("pass_env[%d]", i), "is not passed: drop_env has it too, and wins")
		}
	}
	if len(s.Events) > 0 && !l.structured() {
		l.warn("events", "are not used: outputs has neither stream nor json")
	}
}

func (l *linter) structured() bool {
	return slices.ContainsFunc(l.outputs(), func(o clispec.OutputMode) bool { return o != clispec.OutputText })
}
