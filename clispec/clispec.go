// Package clispec is the language in which a spec describes one CLI: the types,
// what their zero values mean, the words that a spec may use, and the check that
// finds mistakes. It is data only: it knows no CLI by name, runs nothing and
// reads no file.
package clispec

import "github.com/clichain/clichain/call"

// Spec is everything clichain knows about one CLI, as plain data: it has no
// funcs, survives JSON, and can come from a user's file. All specs go through
// the same code; no other code knows a CLI by name.
//
// Name and Binary are enough for a CLI that takes `-p PROMPT` and prints its
// answer: the zero value of every other part means "the CLI has nothing of
// the kind". A spec is a value; copy it freely, and do not change the slices
// and maps of one that a provider was made from.
type Spec struct {
	// Name is the backend's name everywhere: lower-case letters, digits, "-", "_" and ".".
	Name string `json:"name"`
	// InstanceOf is the name of the spec that this one is another instance of: the
	// same CLI with a home of its own, which SetEnv names. In a file it stands for
	// all that the entry does not say itself. SKIP_CLI turns an instance off by
	// this name as well as by its own. Empty: it is none.
	InstanceOf string `json:"instance_of,omitempty"`
	// Binary is the program to look for on PATH.
	Binary string `json:"binary"`
	// AltBinaries are other names of the same program, tried after Binary.
	AltBinaries []string `json:"alt_binaries,omitempty"`
	// LinkNames are ambiguous names, tried last: such a file on PATH counts only if its path, with links resolved, has an
	// element that is Binary or one of AltBinaries.
	LinkNames []string `json:"link_names,omitempty"`
	// Packages are the npm packages whose package.json has the CLI's version.
	Packages []string `json:"packages,omitempty"`
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
	// it replaces the agent's own long prompt, which a plain completion does not
	// need.
	SystemDefault string `json:"system_default,omitempty"`
	// Transports are the ways the prompt can travel, best first. Empty: argv.
	Transports []Transport `json:"transports,omitempty"`
	// Outputs are the output modes the CLI has, best first. Empty: text.
	Outputs []OutputMode `json:"outputs,omitempty"`
	// Guards change prompts that the CLI would take for a command of its own.
	Guards []GuardRule `json:"guards,omitempty"`
	// GuardFiles are empty files in the otherwise empty directory of an
	// AccessNone call, which keep the CLI from looking for files of that name in
	// the directories above.
	GuardFiles []string `json:"guard_files,omitempty"`
	// FolderFiles are files and folders by which a directory that is not trusted
	// would steer the CLI, or make it run something, and which the CLI cannot be
	// told to ignore: with one of them there, an AccessRead or AccessWrite call is
	// refused (see Config.TrustDir). "./name" is looked for in all the folders
	// above as well, except the user's home; "name" is not.
	FolderFiles []string `json:"folder_files,omitempty"`
	// Args is the ordered argument table. Empty: see PromptStyle.
	Args []ArgRow `json:"args,omitempty"`
	// ReadTools are the tools that an AccessRead call has, by the CLI's own names:
	// Options.AllowedTools may choose among them there, and name no other. Empty:
	// with AccessRead the option is refused.
	ReadTools []string `json:"read_tools,omitempty"`
	// AgentTools are those that Config.Agent permits with AccessWrite, where the
	// request names none, by the CLI's own names.
	AgentTools []string `json:"agent_tools,omitempty"`
	// Env is the table of environment variables to set.
	Env []EnvRow `json:"env,omitempty"`
	// SetEnv sets variables as if the host had them: the CLI sees them, rows of Env
	// and Config.Env win. "~" at the start of a value is the home directory, ${NAME}
	// and ${NAME:-default} are a variable of the host, and without either it is the
	// value itself; an empty one hides the host's. A value of which a part is
	// not known fails every call.
	SetEnv map[string]string `json:"set_env,omitempty"`
	// Files are temporary files the call needs.
	Files []FileRow `json:"files,omitempty"`
	// PassEnv names variables of the host's environment that the CLI may see,
	// beside the common ones; a trailing "*" makes a prefix.
	PassEnv []string `json:"pass_env,omitempty"`
	// PassEnvIf names more of them, each for a CLI that is set to use them:
	// credentials of clouds and of other vendors.
	PassEnvIf []PassRule `json:"pass_env_if,omitempty"`
	// DropEnv names variables never passed on, in the form of PassEnv, over
	// which it wins: those that would change what this spec relies on.
	DropEnv []string `json:"drop_env,omitempty"`
	// NestedEnv names the marks of an outer session of the same agent, in the
	// same form. They are never passed on either; see Config.RefuseNested.
	NestedEnv []string `json:"nested_env,omitempty"`
	// Models says which model names the CLI takes.
	Models ModelRules `json:"models,omitzero"`
	// Sessions says how the CLI continues from an earlier answer.
	Sessions SessionRules `json:"sessions,omitzero"`
	// Preflight are conditions under which the CLI would refuse to work.
	Preflight []PreflightRule `json:"preflight,omitempty"`
	// Login says how to tell whether the CLI is logged in, and who pays.
	Login LoginRules `json:"login,omitzero"`
	// Trust lists the files in which the CLI keeps the folders that its user
	// trusts; one that matches is enough. {dir} in a path or a pattern stands for
	// the folder. Empty: the CLI has no trusted folders.
	Trust []FileFact `json:"trust,omitempty"`
	// Events read the CLI's JSON output, in order.
	Events []EventRule `json:"events,omitempty"`
	// ToolEvents says when the stream mode shows the use of a tool. The other
	// modes never do. Empty: never.
	ToolEvents ToolEvents `json:"tool_events,omitempty"`
	// Answer says which text is the answer when no event has all of it.
	Answer AnswerMode `json:"answer,omitempty"`
	// Lines read its error texts, in order, before the rules common to all.
	Lines []LineRule `json:"lines,omitempty"`
	// Text tells whose words text mode prints.
	Text TextRule `json:"text,omitzero"`
	// ExitCodes give a Reason to exit statuses with a meaning of their own.
	ExitCodes map[int]call.Reason `json:"exit_codes,omitempty"`
	// Hints tell a person what to do, by Reason.
	Hints map[call.Reason]string `json:"hints,omitempty"`
	// Live says how one process answers many requests.
	Live LiveRules `json:"live,omitzero"`
	// LingerMS is how long, in milliseconds, the process may go on after its
	// terminal event before it is ended. Zero: 500.
	LingerMS int `json:"linger_ms,omitempty"`
	// CheckedWith is the CLI's version this spec was verified with: a newer one is
	// told as Response.Drift. Where the installed one is not known, rows with
	// versions apply as for this one; without it, as for the newest.
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

// The output modes.
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

// ToolEvents says when a CLI shows that it uses a tool. With AccessWrite and
// AccessFull, a run that failed is not run again where a tool may have begun
// unseen.
type ToolEvents string

const (
	// ToolsNever, also the meaning of the zero value: there are no events of
	// tools, or not for all of them.
	ToolsNever ToolEvents = "never"
	// ToolsAtStart: before the tool does anything.
	ToolsAtStart ToolEvents = "start"
	// ToolsAtEnd: only when it has ended. The CLI shows in some other way, such
	// as a status event, that a turn of its model has begun.
	ToolsAtEnd ToolEvents = "end"
)

// ToolEventsIn returns when a run in an output mode shows the use of a tool.
func (s *Spec) ToolEventsIn(output OutputMode) ToolEvents {
	if output != OutputStream || s.ToolEvents == "" {
		return ToolsNever
	}
	return s.ToolEvents
}

// When is the condition of a row. All parts that are set must hold; the zero
// value always holds.
type When struct {
	// Set and Unset name request fields (listed in docs/reference/specs.md) that must be
	// set or must not be.
	Set   []string `json:"set,omitempty"`
	Unset []string `json:"unset,omitempty"`
	// Access, Output and Transport list the values that apply.
	Access    []call.Access `json:"access,omitempty"`
	Output    []OutputMode  `json:"output,omitempty"`
	Transport []Transport   `json:"transport,omitempty"`
	// Env: the CLI sees one of these variables, set to anything but "", "0"
	// and "false".
	Env []string `json:"env,omitempty"`
	// Since and Before bound the installed version: the first that has what the
	// row needs, and the first that has it no more, such as "2.1.0".
	Since  string `json:"since,omitempty"`
	Before string `json:"before,omitempty"`
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

// PassRule passes variables on where one of its signs is seen: the more a CLI
// is given without need, the more a prompt can make it tell.
type PassRule struct {
	// Pass names variables, in the form of Spec.PassEnv.
	Pass []string `json:"pass"`
	// Env: the CLI sees one of these variables, set to anything but "", "0"
	// and "false".
	Env []string `json:"env,omitempty"`
	// Files: one of these files is as it says, none of them in the folder that
	// the CLI works in. In a container none is.
	Files []FileFact `json:"files,omitempty"`
	// Models: the model that is asked for begins with one of these.
	Models []string `json:"models,omitempty"`
}

// FileRow is a temporary file, readable by its owner only, that exists while
// the call runs. Its path is the template field "<Field>_file".
type FileRow struct {
	Field   string `json:"field"`
	Name    string `json:"name"`    // base name, such as "system.md"
	Content string `json:"content"` // template
	When    When   `json:"when,omitzero"`
}

// OutputModes returns the output modes of the CLI, best first; without any, text.
func (s *Spec) OutputModes() []OutputMode { return orDefault(s.Outputs, OutputText) }

// TransportModes returns the ways the prompt can travel, best first; without
// any, argv.
func (s *Spec) TransportModes() []Transport { return orDefault(s.Transports, TransportArgv) }

func orDefault[T any](list []T, absent T) []T {
	if len(list) == 0 {
		return []T{absent}
	}
	return list
}

// ArgTable returns the spec's argument table, or that of its prompt style.
func (s *Spec) ArgTable() []ArgRow {
	if len(s.Args) > 0 {
		return s.Args
	}
	var rows []ArgRow
	if s.PromptStyle == RunSubcommand {
		rows = append(rows, ArgRow{Args: []string{"run"}})
	}
	if s.SystemFlag != "" {
		rows = append(rows, ArgRow{Args: []string{s.SystemFlag, "{system}"}, When: When{Set: []string{"system"}}})
	}
	prompt := []string{"-p", "{prompt}"}
	if s.PromptStyle == RunSubcommand {
		prompt = []string{"{prompt}"}
	}
	return append(rows,
		ArgRow{Args: []string{"--model", "{model}"}, When: When{Set: []string{"model"}}},
		ArgRow{Args: []string{"{extra}"}, Each: "extra"},
		ArgRow{Args: prompt})
}
