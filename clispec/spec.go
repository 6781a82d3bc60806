package clispec

import (
	"github.com/clichain/clichain/call"
)

// Spec is everything clichain knows about one CLI, as plain data: it has no
// funcs, survives JSON, and can come from a user's file. One interpreter reads
// all specs; no other code knows a CLI by name.
//
// Name and Binary are enough for a CLI that takes `-p PROMPT` and prints its
// answer: the zero value of every other part means "the CLI has nothing of
// the kind". A spec is a value; copy it freely, and do not change the slices
// and maps of one that a [Provider] was made from.
type Spec struct {
	// Name is the backend's name in results, errors, SKIP_CLI and order lists:
	// lower-case letters, digits, "-", "_" and ".".
	Name string `json:"name"`
	// Binary is the program to look for on PATH.
	Binary string `json:"binary"`
	// AltBinaries are other names of the same program, tried after Binary.
	AltBinaries []string `json:"alt_binaries,omitempty"`
	// ProviderSlug names the vendor's CLI access, such as "anthropic-cli".
	ProviderSlug string `json:"provider_slug,omitempty"`
	// DefaultModel stands for "whatever the CLI is set to": asking for it adds
	// no model flag.
	DefaultModel string `json:"default_model,omitempty"`
	// PromptStyle gives the arguments of a simple CLI when Args is empty.
	PromptStyle PromptStyle `json:"prompt_style,omitempty"`
	// SystemFlag takes the system prompt when Args is empty. Without it the
	// system text is put in front of the prompt.
	SystemFlag string `json:"system_flag,omitempty"`
	// SystemDefault is the system text of an AccessNone request that has none:
	// it keeps the agent's own long prompt out of a plain completion.
	SystemDefault string `json:"system_default,omitempty"`

	// Transports are the ways the prompt can travel, best first.
	// Empty: argv.
	Transports []Transport `json:"transports,omitempty"`
	// Outputs are the output modes the CLI has, best first. Empty: text.
	Outputs []OutputMode `json:"outputs,omitempty"`
	// Guards keep the CLI from taking a prompt for something else.
	Guards []GuardRule `json:"guards,omitempty"`
	// EmptyDir: an AccessNone call without Dir and Session runs in an empty
	// temporary directory, because the CLI looks at files unasked. Its session
	// cannot be gone on from.
	EmptyDir bool `json:"empty_dir,omitempty"`
	// Args is the ordered argument table. Empty: see PromptStyle.
	Args []ArgRow `json:"args,omitempty"`
	// Env is the table of environment variables to set.
	Env []EnvRow `json:"env,omitempty"`
	// Files are temporary files the call needs.
	Files []FileRow `json:"files,omitempty"`
	// PassEnv names variables of the host's environment that the CLI may see,
	// beside the common ones; a trailing "*" makes a prefix.
	PassEnv []string `json:"pass_env,omitempty"`
	// DropEnv names variables never passed on, in the form of PassEnv, over
	// which it wins: those that would change what this spec relies on.
	DropEnv []string `json:"drop_env,omitempty"`
	// NestedEnv names the marks of an outer session of the same agent, in the
	// same form. They are never passed on either; see Config.Nested.
	NestedEnv []string `json:"nested_env,omitempty"`

	// Models says which model names the CLI takes.
	Models ModelRules `json:"models,omitzero"`
	// Sessions says how the CLI goes on from an earlier answer.
	Sessions SessionRules `json:"sessions,omitzero"`
	// Preflight are conditions under which the CLI would refuse to work.
	Preflight []PreflightRule `json:"preflight,omitempty"`
	// Login says how to tell whether the CLI is logged in, and who pays.
	Login LoginRules `json:"login,omitzero"`
	// Trust is where it keeps the folders that its user trusts, one of which
	// is enough; {dir} in a path or a pattern stands for the folder. Empty: it
	// has no such thing.
	Trust []FileFact `json:"trust,omitempty"`

	// Events read the CLI's JSON output, in order.
	Events []EventRule `json:"events,omitempty"`
	// Answer says which text is the answer where no event holds it whole.
	Answer AnswerMode `json:"answer,omitempty"`
	// Lines read its error texts, in order, before the rules common to all.
	Lines []LineRule `json:"lines,omitempty"`
	// ExitCodes give a Reason to exit statuses with a meaning of their own.
	ExitCodes map[int]call.Reason `json:"exit_codes,omitempty"`
	// Hints tell a person what to do, by Reason.
	Hints map[call.Reason]string `json:"hints,omitempty"`
	// LingerMS is how long, in milliseconds, the process may go on after its
	// terminal event before it is ended. Zero: 500.
	LingerMS int `json:"linger_ms,omitempty"`
	// CheckedWith is the CLI's version this spec was verified with.
	CheckedWith string `json:"checked_with,omitempty"`
}

// PromptStyle is how a simple CLI takes its prompt.
type PromptStyle string

const (
	// DashP, also the meaning of the zero value, is `-p PROMPT`.
	DashP PromptStyle = "dash_p"
	// RunSubcommand is `run PROMPT`.
	RunSubcommand PromptStyle = "run_subcommand"
)

// Transport is how the prompt reaches the CLI.
type Transport string

const (
	// TransportStdin writes the prompt to standard input and closes it.
	TransportStdin Transport = "stdin"
	// TransportArgv passes it as an argument: bounded in length, and visible
	// to other users of the machine.
	TransportArgv Transport = "argv"
)

// OutputMode is the form of the CLI's standard output.
type OutputMode string

const (
	OutputStream OutputMode = "stream" // one JSON event a line
	OutputJSON   OutputMode = "json"   // one JSON document at the end
	OutputText   OutputMode = "text"   // the answer as text
)

// AnswerMode says which of the texts of a run is the answer.
type AnswerMode string

const (
	// AnswerAfterTools, also the meaning of the zero value: all text after the
	// last tool use, else all text.
	AnswerAfterTools AnswerMode = "after_tools"
	// AnswerLastBlock: the last whole text block.
	AnswerLastBlock AnswerMode = "last_block"
)

// When is the condition of a row. All parts that are set must hold; the zero
// value always holds.
type When struct {
	// Set and Unset name request fields (listed in docs/specs.md)
	// that must be set or must not.
	Set   []string `json:"set,omitempty"`
	Unset []string `json:"unset,omitempty"`
	// Access, Output and Transport list the values that apply.
	Access    []call.Access `json:"access,omitempty"`
	Output    []OutputMode  `json:"output,omitempty"`
	Transport []Transport   `json:"transport,omitempty"`
	// Env: the CLI sees one of these variables, set to anything but "", "0"
	// and "false".
	Env []string `json:"env,omitempty"`
}

// ArgRow is one row of the argument table: templates in which {field} stands
// for a request field, and {field_file} for the path of a [FileRow].
type ArgRow struct {
	Args []string `json:"args"`
	When When     `json:"when,omitzero"`
	// Each repeats the row for every element of a list field, in which the
	// field stands for the element.
	Each string `json:"each,omitempty"`
}

// GuardRule puts Prefix in front of a prompt that Pattern matches.
type GuardRule struct {
	Pattern string `json:"pattern"`
	Prefix  string `json:"prefix"`
}

// EnvRow sets one environment variable to a template.
type EnvRow struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	When  When   `json:"when,omitzero"`
}

// FileRow is a temporary file, readable by its owner only, that exists while
// the call runs. Its path is the template field "<Field>_file".
type FileRow struct {
	Field   string `json:"field"`
	Name    string `json:"name"`    // base name, such as "system.md"
	Content string `json:"content"` // template
	When    When   `json:"when,omitzero"`
}

// ModelRules say which model names a CLI takes.
type ModelRules struct {
	// Accept are regular expressions; a name must match one. Empty: any name.
	Accept []string `json:"accept,omitempty"`
	// Aliases map a caller's name to the CLI's.
	Aliases map[string]string `json:"aliases,omitempty"`
	// List is the command that names the models the CLI offers, without asking
	// one of them.
	List ListRule `json:"list,omitzero"`
}

// ListRule is a command of the CLI that prints a list. The zero value means
// that it has none.
type ListRule struct {
	// Args are its arguments.
	Args []string `json:"args,omitempty"`
	// Path is the gjson path of the names in the JSON that it prints. Empty: it
	// prints one name on each line.
	Path string `json:"path,omitempty"`
}

// SessionRules say how a CLI goes on from an earlier answer.
type SessionRules struct {
	// ID is a regular expression for the whole of a session's id: some CLIs
	// begin anew, without a word, for what is none. Empty: any id.
	ID string `json:"id,omitempty"`
	// DirBound: a session lives in the directory it was made in, and nowhere
	// else.
	DirBound bool `json:"dir_bound,omitempty"`
	// SameID: the CLI names the session it goes on from; another one means
	// that it began anew, which ends the run.
	SameID bool `json:"same_id,omitempty"`
	// Cumulative names the fields of a usage that the CLI counts on over the
	// calls of a session, such as "cost_usd": what earlier calls had used is
	// taken off. The names are those of EventRule.Set.
	Cumulative []string `json:"cumulative,omitempty"`
}

// PreflightRule is a condition under which a call is refused before anything
// starts, because the CLI itself would.
type PreflightRule struct {
	When When `json:"when,omitzero"`
	// Match maps a request field to a regular expression that the whole of one
	// of its values must match.
	Match map[string]string `json:"match,omitempty"`
	// Root: the user is root.
	Root bool `json:"root,omitempty"`
	// UnlessEnv: the CLI sees one of these variables, set to anything but "",
	// "0" and "false".
	UnlessEnv []string    `json:"unless_env,omitempty"`
	Reason    call.Reason `json:"reason"`
	Message   string      `json:"message"`
	Hint      string      `json:"hint,omitempty"`
}

// EventRule turns a JSON value of the CLI's output into an [Event]. Every rule
// that matches applies, in order, up to one with Last.
type EventRule struct {
	// Match maps a path to a regular expression that the whole value there
	// must match; a missing value and null are "". Paths are gjson paths; with
	// Each, a path that begins with "@." starts at the element.
	Match map[string]string `json:"match"`
	// Each is the path of an array: the rule applies to each element.
	Each string `json:"each,omitempty"`
	// Kind is the event to make.
	Kind call.EventKind `json:"kind"`
	// Set maps an event field to a path, to alternatives "a ?? b", or to a
	// literal "=text". The fields are listed in docs/specs.md.
	Set map[string]string `json:"set,omitempty"`
	// Terminal: this event is the CLI's last word about the call.
	Terminal bool `json:"terminal,omitempty"`
	// Last: no later rule sees this value.
	Last bool `json:"last,omitempty"`
}

// LineRule turns error text into a Reason. It never sees the model's own text:
// only the fields of error events, stderr, and the stdout of a run that failed
// and is no JSON.
type LineRule struct {
	// Pattern is a regular expression. Named groups: status (an HTTP status),
	// attempt, message, reset (a point in time), delay (a duration).
	Pattern string `json:"pattern"`
	// On lists where it applies. Empty: everywhere.
	On []Evidence `json:"on,omitempty"`
	// Kind is EventError (also the meaning of ""), which explains a failure;
	// EventRetry, which explains why nothing happens; EventWarning; or
	// EventStatus, which marks a line of stderr that explains nothing.
	Kind call.EventKind `json:"kind,omitempty"`
	// Reason is the class. Empty: from the group status, else from the words
	// in the group message.
	Reason call.Reason `json:"reason,omitempty"`
	// Fatal: such a line on stderr ends the run at once, and nothing it says
	// afterwards is an answer.
	Fatal bool   `json:"fatal,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

// Evidence is where an error text was found.
type Evidence string

const (
	OnEvent  Evidence = "event"  // an error field of an event
	OnStderr Evidence = "stderr" // a line of stderr
	OnStdout Evidence = "stdout" // a line of stdout, no JSON, of a failed run
)
