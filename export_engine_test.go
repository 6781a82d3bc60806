package clichain

import (
	"time"

	"github.com/tidwall/gjson"
)

// Wish is what a call wants beside the request.
type Wish struct {
	Output    OutputMode
	Transport Transport
}

// Host is what compose may know about the machine.
type Host struct {
	Path       string
	Environ    []string
	Env        []string // Config.Env
	PassEnv    []string
	InheritEnv bool
	Root       bool
	Dir        string
	TempDir    string
}

// File is a temporary file of an invocation.
type File struct{ Path, Content string }

// Invocation is everything needed to start a CLI once.
type Invocation struct {
	Path      string
	Args      []string
	Env       []string
	Dir       string
	Stdin     []byte
	Files     []File
	EmptyDir  bool
	Output    OutputMode
	Transport Transport
}

// Engine is a spec as the interpreter sees it.
type Engine struct {
	composer *composer
	program  *program
	judge    *judge
	scratch  scratch
}

// NewEngine compiles a spec.
func NewEngine(spec CliSpec) (*Engine, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	return &Engine{composer: newComposer(&spec, nil), program: compileProgram(spec.Events), judge: newJudge(&spec)}, nil
}

// Compose is what Provider does before it starts anything, without the checks
// of CheckRequest.
func (e *Engine) Compose(req Request, w Wish, h Host) (*Invocation, *BackendError) {
	inv, err := e.composer.compose(req, choice{w.Output, w.Transport}, hostFrom(h))
	if err != nil {
		return nil, err
	}
	out := &Invocation{
		Path: inv.path, Args: inv.args, Env: inv.env, Dir: inv.dir, Stdin: inv.stdin, EmptyDir: inv.empty,
		Output: inv.call.output, Transport: inv.call.transport,
	}
	for _, f := range inv.files {
		out.Files = append(out.Files, File{f.path, f.content})
	}
	return out, nil
}

func hostFrom(h Host) host {
	return host{
		path: h.Path, environ: h.Environ, env: h.Env, passEnv: h.PassEnv, inheritEnv: h.InheritEnv, root: h.Root, dir: h.Dir, tempDir: h.TempDir,
	}
}

// ResolveModel is the name the CLI gets for a request's model.
func (e *Engine) ResolveModel(name string) (string, bool) { return e.composer.models.resolve(name) }

// Claims reports whether a model name addresses this backend itself.
func (e *Engine) Claims(name string) bool { return e.composer.models.claims(name) }

// Events are what one line of a stream means; ok is false when it is no JSON
// object.
func (e *Engine) Events(line string) (events []Event, ok bool) {
	root, ok := parseObject([]byte(line))
	if !ok {
		return nil, false
	}
	return plainEvents(e.program.events(new(scratch), root)), true
}

func plainEvents(items []item) (events []Event) {
	for _, i := range items {
		events = append(events, i.Event)
	}
	return events
}

// Finding is what a piece of evidence says about a failure.
type Finding struct {
	Reason     Reason
	Message    string
	Hint       string
	RetryAfter time.Time
}

// JudgeText classifies an error text.
func (e *Engine) JudgeText(on Evidence, text string, now time.Time) (Finding, bool) {
	f, ok := e.judge.judgeText(on, text, now)
	return Finding{f.reason, f.message, f.hint, f.retryAfter}, ok
}

// JudgeEvent classifies an error event.
func (e *Engine) JudgeEvent(event Event, now time.Time) (Finding, bool) {
	s := signOf(event)
	f, ok := e.judge.judgeEvent(&s, now)
	return Finding{f.reason, f.message, f.hint, f.retryAfter}, ok
}

// DocumentObjects are the objects of the JSON document in a text.
func DocumentObjects(text string) (raw []string) {
	for _, object := range documentObjects([]byte(text)) {
		raw = append(raw, object.Get("@this|@ugly").Raw)
	}
	return raw
}

// ParseObject is the object on a line.
func ParseObject(line string) (gjson.Result, bool) { return parseObject([]byte(line)) }

// PolicyReasons are the Reasons of the decision table.
func PolicyReasons() (list []Reason) {
	for r := range policy {
		list = append(list, r)
	}
	return list
}

// ReasonOfSentinel is the Reason of a sentinel error, "" for any other error.
func ReasonOfSentinel(err error) Reason {
	s, _ := err.(sentinel)
	return Reason(s)
}

// MaxDepth is the deepest nesting that is read.
const MaxDepth = maxDepth

// The pure functions behind the exported API.
var (
	CheckRequest   = checkRequest
	PromptText     = promptText
	SystemText     = systemText
	StripFence     = stripFence
	ReasonOfStatus = reasonOfStatus
	OneLine        = oneLine
	ResetTime      = resetTime
)

// CountEvents is the number of events of a line; zero for no JSON object.
func (e *Engine) CountEvents(line []byte) int {
	root, ok := parseObject(line)
	if !ok {
		return 0
	}
	return len(e.program.events(&e.scratch, root))
}

// Literals is what a pattern's matches are searched for first.
func Literals(pattern string) []string { return literals(pattern) }

// LineMatcher is one of the rules common to all specs.
type LineMatcher struct{ compiledLine }

// CommonLines are the rules common to all specs.
func CommonLines() (rules []LineMatcher) {
	for _, line := range commonLines {
		rules = append(rules, LineMatcher{line})
	}
	return rules
}

func (m LineMatcher) MayMatch(lower string) bool { return m.mayMatch(lower) }
func (m LineMatcher) Matches(text string) bool   { return m.re.MatchString(text) }
