package clispec

import (
	"errors"
	"fmt"
	"maps"
	slashpath "path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/spelling"
	"github.com/hashicorp/go-multierror"
)

// Error is one mistake in a spec. It is a plain value.
type Error struct {
	Path    string // path of the field, such as "events[3].match.type"
	Value   string // value of the field; empty if it is missing
	Problem string // the problem and what to do
}

// Error returns the path, the value and the problem on one line.
func (e *Error) Error() string {
	if e.Value == "" {
		return e.Path + ": " + e.Problem
	}
	return fmt.Sprintf("%s: %q %s", e.Path, e.Value, e.Problem)
}

// Validate returns all mistakes in the spec as one error, in which [errors.As] finds an [*Error] for each, or nil.
func (s Spec) Validate() error {
	v := &validator{files: map[string]bool{}, patterns: map[string]error{}}
	v.identity(&s)
	v.tables(&s)
	v.rules(&s)
	s.Quota.check(v, s.Live.Has())
	v.live(&s.Live)
	if v.found == nil { // otherwise a misspelled field would be reported twice
		v.prompt(&s)
	}
	if v.found == nil {
		return nil
	}
	v.found.ErrorFormat = func(errs []error) string {
		lines := make([]string, len(errs))
		for i, err := range errs {
			lines[i] = err.Error()
		}
		return fmt.Sprintf("spec %q: %s", s.Name, strings.Join(lines, "; "))
	}
	return v.found
}

type validator struct {
	found    *multierror.Error
	files    map[string]bool  // template fields of FileRows
	patterns map[string]error // cache of parse errors, because rules share patterns
}

func (v *validator) add(path, value, problem string) {
	v.found = multierror.Append(v.found, &Error{path, value, problem})
}

// each checks the elements of a list with their paths.
func each[T any](path string, list []T, check func(path string, item T)) {
	for i, item := range list {
		check(path+"["+strconv.Itoa(i)+"]", item)
	}
}

// oneOf checks an enumeration. The empty value is its default.
func oneOf[T ~string](v *validator, path string, value T, allowed ...T) {
	if value != "" {
		v.known(path, string(value), texts(allowed))
	}
}

// allOf checks a list of the values of an enumeration, which must not be empty.
func allOf[T ~string](v *validator, path string, values []T, allowed ...T) {
	each(path, values, func(path string, value T) { v.known(path, string(value), texts(allowed)) })
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, value := range list {
		out[i] = string(value)
	}
	return out
}

func (v *validator) known(path, value string, allowed []string) {
	switch {
	case value == "":
		v.add(path, "", fmt.Sprintf("is empty: write one of %q", allowed))
	case !slices.Contains(allowed, value):
		problem := fmt.Sprintf("is none of %q", allowed)
		if near := spelling.Near(value, allowed); near != "" {
			problem += fmt.Sprintf("; did you mean %q?", near)
		}
		v.add(path, value, problem)
	}
}

var (
	nameShape  = pattern.Of(`^[a-z0-9][a-z0-9._-]*$`)
	slugShape  = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	envShape   = pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*$`)
	fieldShape = pattern.Of(`^[a-z][a-z0-9_]*$`)
	passShape  = pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
)

// CheckName returns an error if a spec cannot have the name.
func CheckName(name string) error {
	if nameShape().MatchString(name) {
		return nil
	}
	return errors.New("must be lower-case letters, digits, '-', '_' and '.', such as \"claude\"")
}

func (v *validator) identity(s *Spec) {
	if err := CheckName(s.Name); err != nil {
		v.add("name", s.Name, err.Error())
	}
	if err := CheckName(s.InstanceOf); err != nil && s.InstanceOf != "" {
		v.add("instance_of", s.InstanceOf, err.Error())
	}
	if s.ProviderSlug != "" && !slugShape().MatchString(s.ProviderSlug) {
		v.add("provider_slug", s.ProviderSlug, "must be letters, digits, '-', '_' and '.', such as \"anthropic-cli\"")
	}
	if s.Vendor != "" && !slugShape().MatchString(s.Vendor) {
		v.add("vendor", s.Vendor, "must be letters, digits, '-', '_' and '.', such as \"anthropic\"")
	}
	each("mcp_clients", s.MCPClients, func(path, name string) {
		if strings.Trim(name, "*") == "" {
			v.add(path, name, "must be the name of an MCP client, such as \"claude-code\"")
		}
	})
	if s.Binary == "" {
		v.add("binary", "", "is missing: give the program's name or absolute path")
	} else {
		v.program("binary", s.Binary)
	}
	each("alt_binaries", s.AltBinaries, v.program)
	each("link_names", s.LinkNames, v.program)
	each("packages", s.Packages, v.packageName)
	oneOf(v, "prompt_style", s.PromptStyle, DashP, RunSubcommand)
	v.text("use_model", s.UseModel)
	v.text("use_effort", s.UseEffort)
	v.text("system_flag", s.SystemFlag)
	v.text("system_default", s.SystemDefault)
	oneOf(v, "answer", s.Answer, AnswerAfterTools, AnswerLastBlock)
	each("read_tools", s.ReadTools, func(path, tool string) {
		if tool == "" {
			v.add(path, "", "is empty: leave it out")
		}
		v.text(path, tool)
	})
	oneOf(v, "tool_events", s.ToolEvents, ToolsNever, ToolsAtStart, ToolsAtEnd)
	allOf(v, "outputs", s.Outputs, OutputStream, OutputJSON, OutputText)
	allOf(v, "transports", s.Transports, TransportStdin, TransportArgv)
	if s.LingerMS < 0 || s.LingerMS > 60_000 {
		v.add("linger_ms", fmt.Sprint(s.LingerMS), "must be 0 to 60000")
	}
	structured := slices.Contains(s.Outputs, OutputStream) || slices.Contains(s.Outputs, OutputJSON)
	if structured && !slices.ContainsFunc(s.Events, func(r EventRule) bool { return r.Terminal }) {
		v.add("events", "", "no rule is terminal, so a stream or json run could never succeed")
	}
}

// program checks the name or path of a program. A spec may have programs of other systems, so it may have an absolute
// path with slashes on Windows.
func (v *validator) program(path, name string) {
	bare, absolute := !strings.ContainsAny(name, `/\`), filepath.IsAbs(name) || slashpath.IsAbs(name)
	if name == "" || strings.ContainsAny(name, "\x00\n") || !bare && !absolute {
		v.add(path, name, "must be a bare name or an absolute path")
	}
}

// text checks a text that is passed to the CLI unchanged. A NUL byte would truncate it.
func (v *validator) text(path, text string) {
	if strings.ContainsRune(text, 0) {
		v.add(path, text, "contains a NUL byte")
	}
}

func (v *validator) tables(s *Spec) {
	each("guard_files", s.GuardFiles, v.below)
	each("folder_files", s.FolderFiles, func(path, name string) { v.below(path, strings.TrimPrefix(name, "./")) })
	for i, row := range s.Files {
		v.file(s, i, row)
	}
	each("args", s.Args, func(path string, row ArgRow) {
		if len(row.Args) == 0 {
			v.add(path+".args", "", "is empty: list the arguments of this row")
		}
		each(path+".args", row.Args, v.template)
		if row.Each != "" {
			v.field(path+".each", row.Each)
		}
		v.when(path+".when", row.When)
	})
	each("env", s.Env, func(path string, row EnvRow) {
		v.variable(path+".name", row.Name)
		v.template(path+".value", row.Value)
		v.when(path+".when", row.When)
	})
	each("servers", s.Servers, func(path string, f ServerFile) { f.check(v, path) })
	v.setEnv(s)
	v.passed("pass_env", s.PassEnv)
	each("pass_env_if", s.PassEnvIf, v.passRule)
	v.passed("drop_env", s.DropEnv)
	v.passed("nested_env", s.NestedEnv)
}

// file checks a row of files, and that no earlier row writes the same file.
func (v *validator) file(s *Spec, i int, row FileRow) {
	path := fmt.Sprintf("files[%d]", i)
	if row.Workdir {
		v.below(path+".name", row.Name)
		if !reflect.DeepEqual(row.When.Access, []call.Access{call.AccessNone}) {
			v.add(path+".workdir", "", "needs when.access [none]: other calls work in a directory of the user")
		}
	} else if !filepath.IsLocal(row.Name) || row.Name == "." || strings.ContainsAny(row.Name, "/\\\x00\n") {
		v.add(path+".name", row.Name, "must be a bare file name")
	}
	if row.Name == grammar.EmptyDir {
		v.add(path+".name", row.Name, "is the name of the empty directory: choose another")
	}
	if !fieldShape().MatchString(row.Field) {
		v.add(path+".field", row.Field, "must be lower-case letters, digits and '_'")
	}
	for j, other := range s.Files[:i] {
		if row.Name == other.Name && reflect.DeepEqual(row.When, other.When) {
			v.add(path+".name", row.Name, fmt.Sprintf("is also the name of files[%d], which would be overwritten", j))
		}
	}
	v.template(path+".content", row.Content)
	v.when(path+".when", row.When)
	v.files[row.Field+"_file"] = true
}

// below checks the path of a file relative to a directory. The paths of specs have slashes on all systems.
func (v *validator) below(path, name string) {
	if !filepath.IsLocal(name) || slashpath.Clean(name) != name || strings.ContainsAny(name, "\\\x00\n") {
		v.add(path, name, "must be the path of a file below the directory")
	}
}

// prompt checks that a CLI with the transport argv gets the prompt as an argument.
func (v *validator) prompt(s *Spec) {
	has := func(template string) bool { return slices.Contains(grammar.TemplateFields(template), "prompt") }
	takes := func(row ArgRow) bool { return slices.ContainsFunc(row.Args, has) }
	if slices.Contains(s.TransportModes(), TransportArgv) && !slices.ContainsFunc(s.ArgTable(), takes) {
		v.add("args", "", "no row has {prompt}, so the prompt would never reach the CLI")
	}
}

func (v *validator) template(path, template string) {
	v.text(path, template)
	for _, name := range grammar.TemplateFields(template) {
		v.field(path, name)
	}
}

// field checks the name of a request field or of a file field.
func (v *validator) field(path, name string) {
	if !slices.Contains(Fields, name) && !v.files[name] {
		all := slices.Concat(Fields, slices.Sorted(maps.Keys(v.files)))
		v.add(path, name, "is not a field of a request or of a file; "+meant(name, all))
	}
}

// meant suggests the word that is nearest, or lists all words if none is near.
func meant(word string, words []string) string {
	if near := spelling.Near(word, words); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "use one of " + strings.Join(words, ", ")
}

func (v *validator) when(path string, w When) {
	each(path+".set", w.Set, v.field)
	each(path+".unset", w.Unset, v.field)
	each(path+".access", w.Access, func(path string, a call.Access) {
		if a < call.AccessNone || a > call.AccessFull {
			v.add(path, a.String(), "is not an access level")
		}
	})
	each(path+".env", w.Env, v.variable)
	allOf(v, path+".output", w.Output, OutputStream, OutputJSON, OutputText, OutputLive)
	allOf(v, path+".transport", w.Transport, TransportStdin, TransportArgv)
	v.versions(path, w)
}
