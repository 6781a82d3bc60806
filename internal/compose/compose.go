package compose

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
)

// Invocation is everything needed to start a CLI once. Only run.go acts on it.
type Invocation struct {
	Path  string
	Args  []string // without the program's own name
	Env   []string
	Dir   string
	Stdin []byte // nil: closed
	Temp  string // private folder of the call, "" when it needs none
	Files []TempFile
	Empty bool // dir is to be made, and removed with the files
	Call  *Call
}

type TempFile struct {
	Field   string // of its FileRow
	Path    string
	Content string
}

// Host is what compose may know about the machine: it does no I/O itself, so
// that every invocation can be tested without one.
type Host struct {
	Path       string   // of the program
	Environ    []string // of this process
	PassEnv    []string // Config.PassEnv
	InheritEnv bool     // Config.InheritEnv
	Env        []string // Config.Env
	Root       bool     // this user is root
	Dir        string   // absolute directory to work in, "" for the process's
	TempDir    string   // of this call's files; does not exist yet
	Inside     bool     // the CLI runs in a container, whose paths have slashes
	Withheld   []string // variables of this machine that the CLI must not see
}

// join is filepath.Join for paths of where the CLI runs.
func (h *Host) join(elem ...string) string {
	if h.Inside {
		return path.Join(elem...)
	}
	return filepath.Join(elem...)
}

// Choice is what a call chooses among what the spec has.
type Choice struct {
	Output    clispec.OutputMode // "": the spec's best
	Transport clispec.Transport  // "": the spec's best
}

// Call is a request in the terms of one spec.
type Call struct {
	Access    call.Access
	Output    clispec.OutputMode
	Transport clispec.Transport
	Fields    Fields
	Env       map[string]string // what the CLI sees of the host's environment
}

// MaxArg is the longest single argument or variable Linux takes, without its
// final NUL (32 pages); longer ones fail in exec with "argument list too long".
const MaxArg = 131_071

// Composer composes the calls of one spec. It is never changed.
type Composer struct {
	spec   *clispec.Spec
	Models models
	guards []compiledGuard
}

type compiledGuard struct {
	clispec.GuardRule
	re *regexp.Regexp
}

// New needs a spec that passed Validate. The aliases are the caller's
// own names of models.
func New(spec *clispec.Spec, aliases map[string]string) *Composer {
	c := &Composer{spec: spec, Models: newModels(spec, aliases)}
	for _, g := range spec.Guards {
		c.guards = append(c.guards, compiledGuard{g, regexp.MustCompile(g.Pattern)})
	}
	return c
}

// Compose turns a request into an invocation. It is pure: the same input gives
// the same result, and nothing happens.
func (o *Composer) Compose(req call.Request, w Choice, h Host) (*Invocation, *call.Error) {
	spec := o.spec
	c, err := o.newCall(req, w, h)
	if err != nil {
		return nil, err
	}
	inv := &Invocation{Path: h.Path, Dir: h.Dir, Call: c}
	if inv.Empty = spec.EmptyDir && req.Access == call.AccessNone && req.Dir == "" && req.Session == ""; inv.Empty {
		inv.Dir = h.join(h.TempDir, "empty")
	}
	if c.uses(spec, "temp") || inv.Empty {
		inv.Temp = h.TempDir
		c.Fields.Set("temp", inv.Temp)
	}
	for _, row := range spec.Files {
		if c.holds(row.When) {
			inv.Temp = h.TempDir
			f := TempFile{row.Field, h.join(h.TempDir, row.Name), c.Fields.Expand(row.Content)}
			inv.Files = append(inv.Files, f)
			c.Fields.Set(row.Field+"_file", f.Path)
		}
	}
	if inv.Args, err = c.arguments(spec.ArgTable()); err != nil {
		return nil, err
	}
	inv.Env = c.Environ(spec, h, inv.Dir)
	if c.Transport == clispec.TransportStdin {
		inv.Stdin = []byte(c.Fields["prompt"][0])
	}
	if err := inv.CheckLengths(); err != nil {
		return nil, err
	}
	return inv, c.preflight(spec, h.Root && !h.Inside) // the user inside is unknown
}

// newCall resolves what depends on the spec: model, session, system text,
// output mode and transport; and refuses what the spec cannot honour.
func (o *Composer) newCall(req call.Request, w Choice, h Host) (*Call, *call.Error) {
	spec := o.spec
	c := &Call{Access: req.Access, Fields: fieldsOf(req), Env: h.Passed(spec)}
	model, ok := o.Models.Resolve(req.Model)
	if !ok {
		return nil, call.Errorf(call.ReasonModelMismatch, "model", "%q is no model of this backend", req.Model)
	}
	c.Fields.Set("model", model)
	if err := c.setSession(spec, req, h.Dir); err != nil {
		return nil, err
	}
	c.Fields.Set("extra", req.Options.Extra[spec.Name]...)
	if err := c.choose(spec, w); err != nil {
		return nil, err
	}
	if err := c.setTexts(spec, req); err != nil {
		return nil, err
	}
	c.guard(o.guards)
	return c, c.unsupported(spec)
}

// choose picks the output mode and the transport: the wished one if the spec
// has it, else the spec's best.
func (c *Call) choose(spec *clispec.Spec, w Choice) *call.Error {
	outputs := spec.OutputModes()
	transports := spec.TransportModes()
	c.Output, c.Transport = cmp.Or(w.Output, outputs[0]), cmp.Or(w.Transport, transports[0])
	if !slices.Contains(outputs, c.Output) {
		return call.Errorf(call.ReasonUnsupported, "output", "%q is none of %q", c.Output, outputs)
	}
	if !slices.Contains(transports, c.Transport) {
		return call.Errorf(call.ReasonUnsupported, "transport", "%q is none of %q", c.Transport, transports)
	}
	return nil
}

// setTexts sets the system text and the prompt. What no row takes goes into
// the prompt: a system text in front, a schema at its end.
func (c *Call) setTexts(spec *clispec.Spec, req call.Request) *call.Error {
	system, prompt := systemText(req.Messages), promptText(req.Messages)
	mode := cmp.Or(req.Options.SystemMode, usualMode(c.Access))
	field := "system_" + string(mode)
	text := system
	if mode == call.SystemReplace {
		text = cmp.Or(system, spec.SystemDefault)
	}
	c.Fields.Set("prompt", prompt)
	c.Fields.Set("system", text)
	c.Fields.Set(field, text)
	if c.Fields.has("schema") && !c.uses(spec, "schema") {
		prompt += "\n\n" + schemaPrompt(string(req.Schema))
	}
	if system != "" && !c.uses(spec, "system") && !c.uses(spec, field) {
		if req.Options.SystemMode == call.SystemReplace {
			return call.Errorf(call.ReasonUnsupported, "options.system_mode", "%q cannot be honoured by this backend here", mode)
		}
		prompt = withSystem(system, prompt)
	}
	c.Fields.Set("prompt", prompt)
	return nil
}

// usualMode is what becomes of the CLI's own system prompt where nothing is
// said: an agent needs it, a plain completion does not.
func usualMode(a call.Access) call.SystemMode {
	if a == call.AccessNone {
		return call.SystemReplace
	}
	return call.SystemAppend
}

// guard applies the spec's guards to the prompt as the CLI would get it.
func (c *Call) guard(guards []compiledGuard) {
	for _, g := range guards {
		if prompt := c.Fields["prompt"][0]; g.re.MatchString(prompt) {
			c.Fields.Set("prompt", g.Prefix+prompt)
		}
	}
}

// arguments expands the rows that apply.
func (c *Call) arguments(rows []clispec.ArgRow) ([]string, *call.Error) {
	var args []string
	for _, row := range rows {
		if !c.holds(row.When) {
			continue
		}
		elements := [][]string{nil}
		if row.Each != "" {
			elements = chunk(c.Fields[row.Each])
		}
		for _, element := range elements {
			var err *call.Error
			if args, err = c.appendArgs(args, row, element); err != nil {
				return nil, err
			}
		}
	}
	return args, nil
}

func chunk(values []string) (out [][]string) {
	for _, v := range values {
		out = append(out, []string{v})
	}
	return out
}

// appendArgs expands one row. A value that fills a whole argument must not
// look like a flag, unless a "--" has ended the flags.
func (c *Call) appendArgs(args []string, row clispec.ArgRow, element []string) ([]string, *call.Error) {
	values := c.Fields
	if element != nil {
		values = maps.Clone(c.Fields)
		values[row.Each] = element
	}
	for _, template := range row.Args {
		arg := values.Expand(template)
		if strings.HasPrefix(template, "{") && strings.HasPrefix(arg, "-") && !slices.Contains(args, "--") && template != "{extra}" {
			return nil, call.Errorf(call.ReasonUnsupported, strings.Join(grammar.TemplateFields(template), ","),
				"begins with %q, which this CLI would take for a flag", "-")
		}
		args = append(args, arg)
	}
	return args, nil
}

func (inv *Invocation) CheckLengths() *call.Error {
	for _, arg := range inv.Args {
		if len(arg) > MaxArg {
			return call.Errorf(call.ReasonUnsupported, inv.Call.Fields.holding(arg), "an argument of %d bytes is over the system's limit of %d, and this CLI takes it no other way", len(arg), MaxArg)
		}
	}
	for _, kv := range inv.Env {
		if name, _, _ := strings.Cut(kv, "="); len(kv) > MaxArg {
			return call.Errorf(call.ReasonUnsupported, name, "an environment variable of %d bytes is over the system's limit of %d", len(kv), MaxArg)
		}
	}
	return nil
}
