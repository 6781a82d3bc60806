// Package compose turns a request into the invocation of one CLI: its
// arguments, environment, stdin and files, by the rows of its spec. It knows no
// CLI by name and does no I/O: what it may know of the machine is in Host, so
// that every command line can be tested without starting a program.
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

// Invocation is everything needed to start a CLI once.
type Invocation struct {
	Path  string
	Args  []string // without the program's own name
	Env   []string
	Dir   string
	Stdin []byte // nil: closed
	Temp  string // private folder of the call, "" when it needs none
	Files []TempFile
	Empty bool // Dir has to be there before the run, and hold nothing but Guards
	// Guards are empty files, and Unwanted are files that must not be there before
	// the run, in the form of the spec's FolderFiles. Both are paths below Dir.
	Guards, Unwanted []string
	Call             *Call
}

// TempFile is a file to write before the CLI starts.
type TempFile struct {
	Field   string // of its FileRow
	Path    string
	Content string
}

// Host is what compose may know about the machine.
type Host struct {
	Path       string   // of the program
	Environ    []string // of this process
	PassEnv    []string // Config.PassEnv
	InheritEnv bool     // Config.InheritEnv
	RequestEnv []string // Config.RequestEnv
	SetEnv     []string // the spec's SetEnv, as "NAME=value"
	Env        []string // Config.Env
	Root       bool     // this user is root
	Dir        string   // absolute directory to work in, "" for the process's or, without access, a temporary one
	RealDir    string   // Dir without links
	TrustDir   bool     // what lies in Dir may steer the CLI
	Agent      bool     // Config.Agent
	Asks       bool     // the caller answers the CLI's questions
	// Conversation: the process is held for one conversation, which may be resumed later.
	Conversation bool
	TempDir      string   // of this call's files; does not exist yet
	Inside       bool     // the CLI runs in a container, whose paths have slashes
	Withheld     []string // variables of this machine that the CLI must not see
	Trace        string   // the traceparent of the call, in the W3C's form, "" for none
	TraceState   string   // the tracestate that belongs to it
	Shown        []bool   // for each of the spec's PassEnvIf, whether one of its files is as it says
	Version      string   // of the program, "" where it is not known

	Known *session.Record // of the session to go on from; nil: nothing
}

// join is filepath.Join for paths of where the CLI runs.
func (h *Host) join(elem ...string) string {
	if h.Inside {
		return path.Join(elem...)
	}
	return filepath.Join(elem...)
}

// Choice selects among the modes that the spec has.
type Choice struct {
	Output    clispec.OutputMode // "": the spec's best
	Transport clispec.Transport  // "": the spec's best
}

// MaxArg is the longest single argument or variable Linux takes, in bytes
// without its final NUL (32 pages). Longer ones fail in exec with "argument
// list too long".
const MaxArg = 131_071

// Composer composes the calls of one spec. It never changes, so it is safe for
// concurrent use.
type Composer struct {
	spec   *clispec.Spec
	Models models
	guards []compiledGuard
	live   []compiledGuard // of the live mode; nil: the same
}

type compiledGuard struct {
	clispec.GuardRule
	re *regexp.Regexp
}

// New makes the composer of a spec that passed Validate; an invalid pattern
// panics. The aliases are the caller's own names of models.
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

// Compose turns a request into an invocation. It is pure: the same input gives
// the same result, and nothing is created or started.
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
	if c.Transport == clispec.TransportStdin && c.Output != clispec.OutputLive {
		inv.Stdin = []byte(c.Fields["prompt"][0])
	}
	if err := inv.CheckLengths(); err != nil {
		return nil, err
	}
	return inv, c.preflight(spec, h.Root && !h.Inside) // the user inside is unknown
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
		whole := strings.HasPrefix(template, "{") && template != "{extra}"
		if whole && strings.HasPrefix(arg, "-") && !slices.Contains(args, "--") {
			return nil, call.Errorf(call.ReasonUnsupported, strings.Join(grammar.TemplateFields(template), ","),
				"begins with %q, which this CLI would take for a flag", "-")
		}
		args = append(args, arg)
	}
	return args, nil
}

// CheckLengths returns an error for an argument or variable over MaxArg.
func (inv *Invocation) CheckLengths() *call.Error {
	for _, arg := range inv.Args {
		if len(arg) > MaxArg {
			return call.Errorf(call.ReasonUnsupported, inv.Call.Fields.holding(arg), "an argument of %d bytes is over "+
				"the system's limit of %d, and this call has no other way for it: shorten it, or ask another backend",
				len(arg), MaxArg)
		}
	}
	for _, kv := range inv.Env {
		if name, _, _ := strings.Cut(kv, "="); len(kv) > MaxArg {
			return call.Errorf(call.ReasonUnsupported, name,
				"an environment variable of %d bytes is over the system's limit of %d", len(kv), MaxArg)
		}
	}
	return nil
}
