// Package compose turns a request into the invocation of one CLI: its arguments, environment, stdin and files, by the
// rows of its spec. It names no CLI and does no I/O. It reads the state of the machine from Host, so tests can check
// every command line without starting a program.
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
	"github.com/clichain/clichain/internal/session"
)

// Invocation describes one start of a CLI.
type Invocation struct {
	Path  string
	Args  []string // without the program name
	Env   []string
	Dir   string
	Stdin []byte // nil closes stdin
	Temp  string // private directory of the call, "" if it needs none
	Files []TempFile
	Empty bool // Dir must exist before the run and contain only Guards
	// Before the run, Guards must exist as empty files and Unwanted must not exist. Both hold paths below Dir, in the
	// form of the spec's FolderFiles.
	Guards, Unwanted []string
	Private          bool // Dir is a private directory of this call, which ends with it
	Call             *Call
	Confined         string // what confines the CLI, as in call.Response.Confined
	Kernel           bool   // the kernel confines the CLI
}

// TempFile is a file to write before the CLI starts.
type TempFile struct {
	Field   string // field of its FileRow
	Path    string
	Content string
}

// Host describes the machine for Compose.
type Host struct {
	Path       string   // absolute path of the program
	Environ    []string // environment of this process
	PassEnv    []string // Config.PassEnv
	InheritEnv bool     // Config.InheritEnv
	RequestEnv []string // Config.RequestEnv
	SetEnv     []string // the spec's SetEnv, as "NAME=value"
	Env        []string // Config.Env
	Root       bool     // this user is root
	Dir        string   // absolute working directory; "" for that of the process or, without access, a temporary one
	RealDir    string   // Dir with symbolic links resolved
	TrustDir   bool     // files in Dir may configure the CLI
	Agent      bool     // Config.Agent
	Asks       bool     // the caller answers the CLI's questions
	// Conversation is set if the process serves one conversation, which a later call may resume.
	Conversation bool
	TempDir      string   // directory for the files of this call; does not exist yet
	Inside       bool     // the CLI runs in a container, where paths use slashes
	Confined     bool     // the kernel confines the CLI
	Withheld     []string // environment variables that the CLI must not see
	Trace        string   // traceparent of the call in the form of W3C Trace Context, "" for none
	TraceState   string   // tracestate of the same trace
	Shown        []bool   // for each PassEnvIf of the spec, whether one of its files matches
	// Servers has the names of the user's MCP servers for each of the spec's Servers. The name "" stands for servers
	// whose names are unknown.
	Servers [][]string
	Tools   *call.HostTools // functions of the caller, or nil
	Version string          // of the program, "" if unknown

	Known *session.Record // record of the session to resume, nil if there is none
}

// join is filepath.Join, with slashes if the CLI runs in a container.
func (h *Host) join(elem ...string) string {
	if h.Inside {
		return path.Join(elem...)
	}
	return filepath.Join(elem...)
}

// Choice selects an output mode and a transport of the spec.
type Choice struct {
	Output    clispec.OutputMode // "" for the first one of the spec
	Transport clispec.Transport  // "" for the first one of the spec
}

// MaxArg is the maximum length of one argument or environment variable on Linux, in bytes without the final NUL (32
// pages). A longer one fails in exec with "argument list too long".
const MaxArg = 131_071

// Composer composes the calls of one spec. It is immutable and safe for concurrent use.
type Composer struct {
	spec   *clispec.Spec
	Models models
	guards []compiledGuard
	live   []compiledGuard // for the live mode; nil to use guards
}

type compiledGuard struct {
	clispec.GuardRule
	re *regexp.Regexp
}

// New returns the composer of a spec that passed Validate. It panics on an invalid pattern. aliases maps the caller's
// own model names to those of the spec.
func New(spec *clispec.Spec, aliases map[string]string) *Composer {
	o := &Composer{spec: spec, Models: newModels(spec, aliases)}
	o.guards, o.live = compileGuards(spec.Guards), compileGuards(spec.Live.Guards)
	return o
}

func compileGuards(rules []clispec.GuardRule) (guards []compiledGuard) {
	for _, g := range rules {
		guards = append(guards, compiledGuard{g, regexp.MustCompile(g.Pattern)})
	}
	return guards
}

// Compose turns a request into an invocation. It is pure: it does no I/O, and the same input gives the same result.
func (o *Composer) Compose(req call.Request, choice Choice, h Host) (*Invocation, *call.Error) {
	spec := o.spec
	c, err := o.newCall(req, choice, h)
	if err != nil {
		return nil, err
	}
	inv := &Invocation{Path: h.Path, Dir: h.Dir, Call: c}
	switch {
	case req.Access == call.AccessNone:
		inv.Empty, inv.Guards = true, spec.GuardFiles
		inv.Dir = cmp.Or(h.Dir, h.join(h.TempDir, grammar.EmptyDir))
	case !c.Fields.has("trust_dir"):
		inv.Unwanted = spec.FolderFiles
	}
	if c.uses(spec, "temp") || inv.Empty && h.Dir == "" {
		inv.Temp = h.TempDir
		c.Fields.Set("temp", inv.Temp)
	}
	for _, row := range spec.Files {
		if c.holds(row.When) {
			inv.addFile(row, h)
		}
	}
	if inv.Args, err = c.arguments(spec.ArgTable()); err != nil {
		return nil, err
	}
	inv.Env = c.Environ(spec, h, inv.Dir)
	if c.Transport == clispec.TransportStdin && c.Output != clispec.OutputLive {
		inv.Stdin = []byte(c.Fields["prompt"][0])
	}
	if err := inv.CheckLengths(); err != nil {
		return nil, err
	}
	return inv, c.preflight(spec, h.Root && !h.Inside) // the user inside a container is unknown
}

// addFile adds the file of a row. The directory of calls without access is shared, so a file in it needs a private one.
func (inv *Invocation) addFile(row clispec.FileRow, h Host) {
	inv.Temp = h.TempDir
	dir := h.TempDir
	if row.Workdir {
		dir = h.join(h.TempDir, grammar.EmptyDir)
		inv.Dir, inv.Private = dir, true
		inv.Call.Fields.Set("dir", dir)
	}
	f := TempFile{row.Field, h.join(dir, row.Name), inv.Call.Fields.Expand(row.Content)}
	inv.Files = append(inv.Files, f)
	inv.Call.Fields.Set(row.Field+"_file", f.Path)
}

// arguments expands the rows that apply.
func (c *Call) arguments(rows []clispec.ArgRow) (args []string, err *call.Error) {
	for _, row := range rows {
		if !c.holds(row.When) {
			continue
		}
		elements := [][]string{nil}
		if row.Each != "" {
			elements = slices.Collect(slices.Chunk(c.Fields[row.Each], 1))
		}
		for _, element := range elements {
			if args, err = c.appendArgs(args, row, element); err != nil {
				return nil, err
			}
		}
	}
	return args, nil
}

// appendArgs appends the arguments of one row. It returns an error for a value that fills a whole argument and looks
// like a flag, unless a "--" precedes it.
func (c *Call) appendArgs(args []string, row clispec.ArgRow, element []string) ([]string, *call.Error) {
	values := c.Fields
	if element != nil {
		values = maps.Clone(c.Fields)
		values[row.Each] = element
	}
	for _, template := range row.Args {
		arg := values.Expand(template)
		whole := strings.HasPrefix(template, "{") && template != "{extra}"
		if whole && strings.HasPrefix(arg, "-") && !slices.Contains(args, "--") {
			return nil, call.Errorf(call.ReasonUnsupported, strings.Join(grammar.TemplateFields(template), ","),
				"begins with %q, so this CLI would read it as a flag", "-")
		}
		args = append(args, arg)
	}
	return args, nil
}

// CheckLengths returns an error for an argument or environment variable that is longer than MaxArg.
func (inv *Invocation) CheckLengths() *call.Error {
	for _, arg := range inv.Args {
		if len(arg) > MaxArg {
			return call.Errorf(call.ReasonUnsupported, inv.Call.Fields.holding(arg), "an argument of %d bytes exceeds "+
				"the system's limit of %d, and this CLI has no other way to receive it: shorten it, or use another backend",
				len(arg), MaxArg)
		}
	}
	for _, kv := range inv.Env {
		if name, _, _ := strings.Cut(kv, "="); len(kv) > MaxArg {
			return call.Errorf(call.ReasonUnsupported, name,
				"an environment variable of %d bytes exceeds the system's limit of %d", len(kv), MaxArg)
		}
	}
	return nil
}
