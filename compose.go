package clichain

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// invocation is everything needed to start a CLI once. Only run.go acts on it.
type invocation struct {
	path  string
	args  []string // without the program's own name
	env   []string
	dir   string
	stdin []byte // nil: closed
	temp  string // private folder of the call, "" when it needs none
	files []tempFile
	empty bool // dir is to be made, and removed with the files
	call  *call
}

type tempFile struct {
	field   string // of its FileRow
	path    string
	content string
}

// host is what compose may know about the machine: it does no I/O itself, so
// that every invocation can be tested without one.
type host struct {
	path       string   // of the program
	environ    []string // of this process
	passEnv    []string // Config.PassEnv
	inheritEnv bool     // Config.InheritEnv
	env        []string // Config.Env
	root       bool     // this user is root
	dir        string   // absolute directory to work in, "" for the process's
	tempDir    string   // of this call's files; does not exist yet
	inside     bool     // the CLI runs in a container, whose paths have slashes
	withheld   []string // variables of this machine that the CLI must not see
}

// join is filepath.Join for paths of where the CLI runs.
func (h *host) join(elem ...string) string {
	if h.inside {
		return path.Join(elem...)
	}
	return filepath.Join(elem...)
}

// choice is what a call chooses among what the spec has.
type choice struct {
	output    OutputMode // "": the spec's best
	transport Transport  // "": the spec's best
}

// call is a request in the terms of one spec.
type call struct {
	access    Access
	output    OutputMode
	transport Transport
	fields    fields
	env       map[string]string // what the CLI sees of the host's environment
}

// maxArg is the longest single argument or variable Linux takes, without its
// final NUL (32 pages); longer ones fail in exec with "argument list too long".
const maxArg = 131_071

// composer composes the calls of one spec. It is never changed.
type composer struct {
	spec   *CliSpec
	models models
	guards []compiledGuard
}

type compiledGuard struct {
	GuardRule
	re *regexp.Regexp
}

// newComposer needs a spec that passed Validate. The aliases are the caller's
// own names of models.
func newComposer(spec *CliSpec, aliases map[string]string) *composer {
	c := &composer{spec: spec, models: newModels(spec, aliases)}
	for _, g := range spec.Guards {
		c.guards = append(c.guards, compiledGuard{g, regexp.MustCompile(g.Pattern)})
	}
	return c
}

// compose turns a request into an invocation. It is pure: the same input gives
// the same result, and nothing happens.
func (o *composer) compose(req Request, w choice, h host) (*invocation, *BackendError) {
	spec := o.spec
	c, err := o.newCall(req, w, h)
	if err != nil {
		return nil, err
	}
	inv := &invocation{path: h.path, dir: h.dir, call: c}
	if inv.empty = spec.EmptyDir && req.Access == AccessNone && req.Dir == "" && req.Session == ""; inv.empty {
		inv.dir = h.join(h.tempDir, "empty")
	}
	if c.uses(spec, "temp") || inv.empty {
		inv.temp = h.tempDir
		c.fields.set("temp", inv.temp)
	}
	for _, row := range spec.Files {
		if c.holds(row.When) {
			inv.temp = h.tempDir
			f := tempFile{row.Field, h.join(h.tempDir, row.Name), c.fields.expand(row.Content)}
			inv.files = append(inv.files, f)
			c.fields.set(row.Field+"_file", f.path)
		}
	}
	if inv.args, err = c.arguments(spec.ArgTable()); err != nil {
		return nil, err
	}
	inv.env = c.environ(spec, h, inv.dir)
	if c.transport == TransportStdin {
		inv.stdin = []byte(c.fields["prompt"][0])
	}
	if err := inv.checkLengths(); err != nil {
		return nil, err
	}
	return inv, c.preflight(spec, h.root && !h.inside) // the user inside is unknown
}

// newCall resolves what depends on the spec: model, session, system text,
// output mode and transport; and refuses what the spec cannot honour.
func (o *composer) newCall(req Request, w choice, h host) (*call, *BackendError) {
	spec := o.spec
	c := &call{access: req.Access, fields: fieldsOf(req), env: h.passed(spec)}
	model, ok := o.models.resolve(req.Model)
	if !ok {
		return nil, errorf(ReasonModelMismatch, "model", "%q is no model of this backend", req.Model)
	}
	c.fields.set("model", model)
	if err := c.setSession(spec, req, h.dir); err != nil {
		return nil, err
	}
	c.fields.set("extra", req.Options.Extra[spec.Name]...)
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
func (c *call) choose(spec *CliSpec, w choice) *BackendError {
	outputs := spec.OutputModes()
	transports := spec.TransportModes()
	c.output, c.transport = cmp.Or(w.output, outputs[0]), cmp.Or(w.transport, transports[0])
	if !slices.Contains(outputs, c.output) {
		return errorf(ReasonUnsupported, "output", "%q is none of %q", c.output, outputs)
	}
	if !slices.Contains(transports, c.transport) {
		return errorf(ReasonUnsupported, "transport", "%q is none of %q", c.transport, transports)
	}
	return nil
}

// setTexts sets the system text and the prompt. What no row takes goes into
// the prompt: a system text in front, a schema at its end.
func (c *call) setTexts(spec *CliSpec, req Request) *BackendError {
	system, prompt := systemText(req.Messages), promptText(req.Messages)
	mode := cmp.Or(req.Options.SystemMode, usualMode(c.access))
	field := "system_" + string(mode)
	text := system
	if mode == SystemReplace {
		text = cmp.Or(system, spec.SystemDefault)
	}
	c.fields.set("prompt", prompt)
	c.fields.set("system", text)
	c.fields.set(field, text)
	if c.fields.has("schema") && !c.uses(spec, "schema") {
		prompt += "\n\n" + schemaPrompt(string(req.Schema))
	}
	if system != "" && !c.uses(spec, "system") && !c.uses(spec, field) {
		if req.Options.SystemMode == SystemReplace {
			return errorf(ReasonUnsupported, "options.system_mode", "%q cannot be honoured by this backend here", mode)
		}
		prompt = withSystem(system, prompt)
	}
	c.fields.set("prompt", prompt)
	return nil
}

// usualMode is what becomes of the CLI's own system prompt where nothing is
// said: an agent needs it, a plain completion does not.
func usualMode(a Access) SystemMode {
	if a == AccessNone {
		return SystemReplace
	}
	return SystemAppend
}

// guard applies the spec's guards to the prompt as the CLI would get it.
func (c *call) guard(guards []compiledGuard) {
	for _, g := range guards {
		if prompt := c.fields["prompt"][0]; g.re.MatchString(prompt) {
			c.fields.set("prompt", g.Prefix+prompt)
		}
	}
}

// arguments expands the rows that apply.
func (c *call) arguments(rows []ArgRow) ([]string, *BackendError) {
	var args []string
	for _, row := range rows {
		if !c.holds(row.When) {
			continue
		}
		elements := [][]string{nil}
		if row.Each != "" {
			elements = chunk(c.fields[row.Each])
		}
		for _, element := range elements {
			var err *BackendError
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
func (c *call) appendArgs(args []string, row ArgRow, element []string) ([]string, *BackendError) {
	values := c.fields
	if element != nil {
		values = maps.Clone(c.fields)
		values[row.Each] = element
	}
	for _, template := range row.Args {
		arg := values.expand(template)
		if strings.HasPrefix(template, "{") && strings.HasPrefix(arg, "-") && !slices.Contains(args, "--") && template != "{extra}" {
			return nil, errorf(ReasonUnsupported, strings.Join(templateFields(template), ","),
				"begins with %q, which this CLI would take for a flag", "-")
		}
		args = append(args, arg)
	}
	return args, nil
}

func (inv *invocation) checkLengths() *BackendError {
	for _, arg := range inv.args {
		if len(arg) > maxArg {
			return errorf(ReasonUnsupported, inv.call.fields.holding(arg), "an argument of %d bytes is over the system's limit of %d, and this CLI takes it no other way", len(arg), maxArg)
		}
	}
	for _, kv := range inv.env {
		if name, _, _ := strings.Cut(kv, "="); len(kv) > maxArg {
			return errorf(ReasonUnsupported, name, "an environment variable of %d bytes is over the system's limit of %d", len(kv), maxArg)
		}
	}
	return nil
}
