package clichain

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/go-multierror"
)

// SpecError is one mistake in a spec.
type SpecError struct {
	Path    string // where, such as "events[3].match.type"
	Value   string // what stands there
	Problem string // what is wrong with it, and what to do
}

// Error is "path: value: problem".
func (e *SpecError) Error() string {
	if e.Value == "" {
		return e.Path + ": " + e.Problem
	}
	return fmt.Sprintf("%s: %q %s", e.Path, e.Value, e.Problem)
}

// Validate finds every mistake in the spec: a [*SpecError] each, all reachable
// with [errors.As]. Nil when there is none.
func (s CliSpec) Validate() error {
	v := &validator{files: map[string]bool{}}
	v.identity(&s)
	v.tables(&s)
	v.rules(&s)
	if v.found == nil { // a misspelt field is one mistake, not two
		v.prompt(&s)
	}
	if v.found == nil {
		return nil
	}
	name := s.Name
	v.found.ErrorFormat = func(errs []error) string {
		lines := make([]string, len(errs))
		for i, err := range errs {
			lines[i] = err.Error()
		}
		return fmt.Sprintf("spec %q: %s", name, strings.Join(lines, "; "))
	}
	return v.found
}

type validator struct {
	found *multierror.Error
	files map[string]bool // template fields made by FileRows
}

func (v *validator) add(path, value, problem string) {
	v.found = multierror.Append(v.found, &SpecError{path, value, problem})
}

// oneOf checks an enumeration; the empty value is its default.
func oneOf[T ~string](v *validator, path string, value T, allowed ...T) {
	if value != "" && !slices.Contains(allowed, value) {
		v.add(path, string(value), fmt.Sprintf("is none of %q", allowed))
	}
}

var (
	nameShape  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	envShape   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	fieldShape = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	passShape  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
)

func (v *validator) identity(s *CliSpec) {
	if !nameShape.MatchString(s.Name) {
		v.add("name", s.Name, "must be lower-case letters, digits, '-', '_' and '.', such as \"claude\"")
	}
	if s.Binary == "" {
		v.add("binary", "", "is missing: give the program's name or absolute path")
	}
	for i, name := range append([]string{s.Binary}, s.AltBinaries...) {
		if strings.ContainsAny(name, "\x00\n") || strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name) {
			v.add([]string{"binary", fmt.Sprintf("alt_binaries[%d]", i-1)}[min(i, 1)], name, "must be a bare name or an absolute path")
		}
	}
	oneOf(v, "prompt_style", s.PromptStyle, DashP, RunSubcommand)
	oneOf(v, "answer", s.Answer, AnswerAfterTools, AnswerLastBlock)
	for i, o := range s.Outputs {
		oneOf(v, fmt.Sprintf("outputs[%d]", i), o, OutputStream, OutputJSON, OutputText)
	}
	for i, t := range s.Transports {
		oneOf(v, fmt.Sprintf("transports[%d]", i), t, TransportStdin, TransportArgv)
	}
	if s.LingerMS < 0 || s.LingerMS > 60_000 {
		v.add("linger_ms", fmt.Sprint(s.LingerMS), "must be 0 to 60000")
	}
	if slices.ContainsFunc(s.Outputs, func(o OutputMode) bool { return o != OutputText }) && !slices.ContainsFunc(s.Events, func(r EventRule) bool { return r.Terminal }) {
		v.add("events", "", "no rule is terminal, so a stream or json run could never succeed")
	}
}

func (v *validator) tables(s *CliSpec) {
	for i, row := range s.Files {
		path := fmt.Sprintf("files[%d]", i)
		if row.Name == "" || row.Name != filepath.Base(row.Name) || row.Name == "." || row.Name == ".." {
			v.add(path+".name", row.Name, "must be a bare file name")
		}
		if !fieldShape.MatchString(row.Field) {
			v.add(path+".field", row.Field, "must be lower-case letters, digits and '_'")
		}
		v.template(path+".content", row.Content)
		v.when(path+".when", row.When)
		v.files[row.Field+"_file"] = true
	}
	for i, row := range s.Args {
		path := fmt.Sprintf("args[%d]", i)
		if len(row.Args) == 0 {
			v.add(path+".args", "", "is empty")
		}
		for j, arg := range row.Args {
			v.template(fmt.Sprintf("%s.args[%d]", path, j), arg)
		}
		if row.Each != "" {
			v.field(path+".each", row.Each)
		}
		v.when(path+".when", row.When)
	}
	for i, row := range s.Env {
		path := fmt.Sprintf("env[%d]", i)
		if !envShape.MatchString(row.Name) {
			v.add(path+".name", row.Name, "is no name of a variable")
		}
		v.template(path+".value", row.Value)
		v.when(path+".when", row.When)
	}
	for name, list := range map[string][]string{"pass_env": s.PassEnv, "drop_env": s.DropEnv} {
		for i, entry := range list {
			if !passShape.MatchString(entry) {
				v.add(fmt.Sprintf("%s[%d]", name, i), entry, "is no name of a variable, nor a prefix with a final '*'")
			}
		}
	}
}

// prompt checks that the prompt gets to a CLI that takes it as an argument.
func (v *validator) prompt(s *CliSpec) {
	takes := func(row ArgRow) bool {
		return slices.ContainsFunc(row.Args, func(t string) bool { return slices.Contains(templateFields(t), "prompt") })
	}
	if slices.Contains(orDefault(s.Transports, TransportArgv), TransportArgv) && !slices.ContainsFunc(argRows(s), takes) {
		v.add("args", "", "no row holds {prompt}, so the prompt would never reach the CLI")
	}
}

func (v *validator) template(path, template string) {
	if strings.ContainsRune(template, 0) {
		v.add(path, template, "holds a NUL byte")
	}
	for _, name := range templateFields(template) {
		v.field(path, name)
	}
}

// field checks the name of a request field, or of a file's path.
func (v *validator) field(path, name string) {
	if !slices.Contains(knownFields, name) && !v.files[name] {
		v.add(path, name, fmt.Sprintf("is no field of a request; there are %s, and \"_file\" ones for the rows of files", strings.Join(knownFields, ", ")))
	}
}

func (v *validator) when(path string, w When) {
	for i, name := range w.Set {
		v.field(fmt.Sprintf("%s.set[%d]", path, i), name)
	}
	for i, name := range w.Unset {
		v.field(fmt.Sprintf("%s.unset[%d]", path, i), name)
	}
	for i, a := range w.Access {
		if a < AccessNone || a > AccessFull {
			v.add(fmt.Sprintf("%s.access[%d]", path, i), a.String(), "is no access level")
		}
	}
	for i, name := range w.Env {
		if !envShape.MatchString(name) {
			v.add(fmt.Sprintf("%s.env[%d]", path, i), name, "is no name of a variable")
		}
	}
	for i, o := range w.Output {
		oneOf(v, fmt.Sprintf("%s.output[%d]", path, i), o, OutputStream, OutputJSON, OutputText)
	}
	for i, t := range w.Transport {
		oneOf(v, fmt.Sprintf("%s.transport[%d]", path, i), t, TransportStdin, TransportArgv)
	}
}

func (v *validator) rules(s *CliSpec) {
	for i, pattern := range s.Models.Accept {
		v.pattern(fmt.Sprintf("models.accept[%d]", i), pattern)
	}
	for i, rule := range s.Guards {
		v.pattern(fmt.Sprintf("guards[%d].pattern", i), rule.Pattern)
	}
	for i, rule := range s.Preflight {
		path := fmt.Sprintf("preflight[%d]", i)
		v.when(path+".when", rule.When)
		v.reason(path+".reason", rule.Reason)
		if rule.Message == "" {
			v.add(path+".message", "", "is missing: say what the CLI would refuse")
		}
	}
	for i, rule := range s.Events {
		v.eventRule(fmt.Sprintf("events[%d]", i), rule)
	}
	for i, rule := range s.Lines {
		v.lineRule(fmt.Sprintf("lines[%d]", i), rule)
	}
	for code, reason := range s.ExitCodes {
		if code < 1 || code > 255 {
			v.add("exit_codes", fmt.Sprint(code), "must be 1 to 255")
		}
		v.reason(fmt.Sprintf("exit_codes[%d]", code), reason)
	}
	for reason := range s.Hints {
		v.reason("hints", reason)
	}
}

func (v *validator) reason(path string, r Reason) {
	if _, ok := policy[r]; !ok {
		v.add(path, string(r), "is no reason; docs/errors.md lists them")
	}
}

func (v *validator) pattern(path, pattern string) {
	if _, err := regexp.Compile(pattern); err != nil {
		v.add(path, pattern, "is no regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
}
