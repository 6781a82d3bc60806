// Package clispec is the language in which a spec describes one CLI: the types, the meaning of their zero values,
// the names that a spec may use, and the check that finds mistakes. The package contains only data: it knows no CLI
// by name, runs nothing and reads no file.
package clispec

import "github.com/clichain/clichain/call"

// Spec describes one CLI as plain data: it has no functions, can be converted to JSON and back, and can come from a
// user's file. The same code uses all specs; no other code knows a CLI by name.
//
// Name and Binary are enough for a CLI that takes `-p PROMPT` and prints its answer. The zero value of every other
// field means that the CLI does not have the feature. A Spec may be copied. Do not change its slices and maps after
// a provider was made from it.
type Spec struct {
	// Name is the name of the backend: lower-case letters, digits, "-", "_" and ".".
	Name string `json:"name"`
	// InstanceOf names the spec of which this one is another instance: the same CLI with another home, which SetEnv
	// selects. In a file, that spec provides all fields that the entry does not set. SKIP_CLI with this name
	// disables the instance too. Empty: not an instance.
	InstanceOf string `json:"instance_of,omitempty"`
	// Binary is the name of the program on PATH, or its absolute path.
	Binary string `json:"binary"`
	// AltBinaries are other names of the program, tried after Binary.
	AltBinaries []string `json:"alt_binaries,omitempty"`
	// LinkNames are ambiguous names, tried last. A file with such a name counts only if its path, with links
	// resolved, has an element that is Binary or one of AltBinaries.
	LinkNames []string `json:"link_names,omitempty"`
	// Packages are the npm packages whose package.json contains the version of the CLI.
	Packages []string `json:"packages,omitempty"`
	// ProviderSlug names the vendor's CLI access, such as "anthropic-cli".
	ProviderSlug string `json:"provider_slug,omitempty"`
	// DefaultModel is the name for the model that the CLI selects. A request with this name adds no model flag.
	DefaultModel string `json:"default_model,omitempty"`
	// PromptStyle selects the arguments of a simple CLI if Args is empty.
	PromptStyle PromptStyle `json:"prompt_style,omitempty"`
	// SystemFlag is the flag for the system text if Args is empty. Without it, the system text precedes the prompt.
	SystemFlag string `json:"system_flag,omitempty"`
	// SystemDefault is the system text of an AccessNone request without one. It replaces the long prompt of the
	// agent, which a plain completion does not need.
	SystemDefault string `json:"system_default,omitempty"`
	// Transports are the ways to pass the prompt, in order of preference. Empty: argv.
	Transports []Transport `json:"transports,omitempty"`
	// Outputs are the output modes of the CLI, in order of preference. Empty: text.
	Outputs []OutputMode `json:"outputs,omitempty"`
	// Guards change prompts that the CLI would treat as commands.
	Guards []GuardRule `json:"guards,omitempty"`
	// GuardFiles are empty files in the directory of an AccessNone call. They keep the CLI from looking for files
	// with these names in the directories above.
	GuardFiles []string `json:"guard_files,omitempty"`
	// FolderFiles are files of an untrusted directory that influence the CLI or make it run a program, and that the
	// CLI cannot ignore. If one exists, an AccessRead or AccessWrite call is refused (see Config.TrustDir).
	// "./name" also applies to the directories above, except the user's home; "name" does not.
	FolderFiles []string `json:"folder_files,omitempty"`
	// Args is the ordered argument table. Empty: see PromptStyle.
	Args []ArgRow `json:"args,omitempty"`
	// ReadTools are the tools of an AccessRead call, by the CLI's names. Options.AllowedTools may select only from
	// them. Empty: AccessRead does not support that option.
	ReadTools []string `json:"read_tools,omitempty"`
	// AgentTools are the tools, by the CLI's names, that Config.Agent permits with AccessWrite if the request names
	// none.
	AgentTools []string `json:"agent_tools,omitempty"`
	// Env is the table of environment variables to set.
	Env []EnvRow `json:"env,omitempty"`
	// SetEnv sets variables as if the host had them; rows of Env and Config.Env override them. "~" at the start of
	// a value is the home directory. ${NAME} and ${NAME:-default} are a variable of the host. Any other value is
	// used unchanged; an empty one hides the host's variable. A value with an unknown part fails every call.
	SetEnv map[string]string `json:"set_env,omitempty"`
	// Files are temporary files of the call.
	Files []FileRow `json:"files,omitempty"`
	// PassEnv names variables of the host that the CLI may see, in addition to the common ones. A trailing "*"
	// makes a prefix.
	PassEnv []string `json:"pass_env,omitempty"`
	// PassEnvIf names more variables, for a CLI that is configured to use them: credentials of clouds and of other
	// vendors.
	PassEnvIf []PassRule `json:"pass_env_if,omitempty"`
	// DropEnv names variables that never pass, in the form of PassEnv, which it overrides: variables that would
	// change the behavior that this spec relies on.
	DropEnv []string `json:"drop_env,omitempty"`
	// NestedEnv names the variables that mark an outer session of the same agent, in the same form. They never
	// pass; see Config.RefuseNested.
	NestedEnv []string `json:"nested_env,omitempty"`
	// Models defines the model names that the CLI accepts.
	Models ModelRules `json:"models,omitzero"`
	// Sessions defines how the CLI continues from an earlier answer.
	Sessions SessionRules `json:"sessions,omitzero"`
	// Preflight lists conditions under which the CLI would refuse to work.
	Preflight []PreflightRule `json:"preflight,omitempty"`
	// Login defines how to find out whether the CLI is logged in, and who pays.
	Login LoginRules `json:"login,omitzero"`
	// Trust lists the files in which the CLI stores the directories that its user trusts; one that matches is
	// enough. {dir} in a path or a pattern is the directory. Empty: the CLI has no trusted directories.
	Trust []FileFact `json:"trust,omitempty"`
	// Events read the CLI's JSON output, in order.
	Events []EventRule `json:"events,omitempty"`
	// ToolEvents says when the stream mode shows the use of a tool. Other modes never do. Empty: never.
	ToolEvents ToolEvents `json:"tool_events,omitempty"`
	// Answer selects the text of the answer if no event has all of it.
	Answer AnswerMode `json:"answer,omitempty"`
	// Lines read error texts, in order, before the rules common to all CLIs.
	Lines []LineRule `json:"lines,omitempty"`
	// Text describes the output of the text mode.
	Text TextRule `json:"text,omitzero"`
	// ExitCodes assign a Reason to exit codes that have a special meaning.
	ExitCodes map[int]call.Reason `json:"exit_codes,omitempty"`
	// Hints tell the user what to do, by Reason.
	Hints map[call.Reason]string `json:"hints,omitempty"`
	// Live defines how one process answers many requests.
	Live LiveRules `json:"live,omitzero"`
	// LingerMS is the time in milliseconds that the process may run after its terminal event. Zero: 500.
	LingerMS int `json:"linger_ms,omitempty"`
	// CheckedWith is the version of the CLI that this spec was tested with; Response.Drift reports a newer one. If
	// the installed version is unknown, rows apply as for this version, and without it as for the newest.
	CheckedWith string `json:"checked_with,omitempty"`
}

// PromptStyle is the way in which a simple CLI takes its prompt.
type PromptStyle string

const (
	// DashP, also the meaning of the zero value, is `-p PROMPT`.
	DashP PromptStyle = "dash_p"
	// RunSubcommand is `run PROMPT`.
	RunSubcommand PromptStyle = "run_subcommand"
)

// Transport is the way in which the prompt reaches the CLI.
type Transport string

const (
	// TransportStdin writes the prompt to stdin and closes it.
	TransportStdin Transport = "stdin"
	// TransportArgv passes it as an argument, which is limited in length and visible to other users of the machine.
	TransportArgv Transport = "argv"
)

// OutputMode is the format of the CLI's stdout.
type OutputMode string

// The output modes.
const (
	OutputStream OutputMode = "stream" // one JSON event on each line
	OutputJSON   OutputMode = "json"   // one JSON document at the end
	OutputText   OutputMode = "text"   // the answer as text
)

// AnswerMode selects the text of a run that is the answer.
type AnswerMode string

const (
	// AnswerAfterTools, also the meaning of the zero value: all text after the last tool use, or all text without a
	// tool use.
	AnswerAfterTools AnswerMode = "after_tools"
	// AnswerLastBlock: the last complete text block.
	AnswerLastBlock AnswerMode = "last_block"
)

// ToolEvents says when a CLI shows the use of a tool. With AccessWrite and AccessFull, clichain does not repeat a
// failed run if a tool may have begun unseen.
type ToolEvents string

const (
	// ToolsNever, also the meaning of the zero value: tools have no events, or only some of them do.
	ToolsNever ToolEvents = "never"
	// ToolsAtStart: before the tool has an effect.
	ToolsAtStart ToolEvents = "start"
	// ToolsAtEnd: only after its end. Another event, such as a status, shows that a turn of the model has begun.
	ToolsAtEnd ToolEvents = "end"
)

// ToolEventsIn returns when a run in an output mode shows the use of a tool.
func (s *Spec) ToolEventsIn(output OutputMode) ToolEvents {
	if output != OutputStream || s.ToolEvents == "" {
		return ToolsNever
	}
	return s.ToolEvents
}

// When is the condition of a row: all parts that are set must be true. The zero value is always true.
type When struct {
	// Set and Unset name request fields that must be set, or must not be set. docs/reference/specs.md lists the
	// fields.
	Set   []string `json:"set,omitempty"`
	Unset []string `json:"unset,omitempty"`
	// Access, Output and Transport list the values for which the condition is true.
	Access    []call.Access `json:"access,omitempty"`
	Output    []OutputMode  `json:"output,omitempty"`
	Transport []Transport   `json:"transport,omitempty"`
	// Env: the CLI sees one of these variables, set to a value other than "", "0" and "false".
	Env []string `json:"env,omitempty"`
	// Since and Before limit the installed version, such as "2.1.0": the first version with the feature, and the
	// first version without it.
	Since  string `json:"since,omitempty"`
	Before string `json:"before,omitempty"`
}

// ArgRow is one row of the argument table: templates in which {field} is the value of a request field, and
// {field_file} the path of a [FileRow].
type ArgRow struct {
	Args []string `json:"args"`
	When When     `json:"when,omitzero"`
	// Each repeats the row for every element of a list field. In the row, the field is the element.
	Each string `json:"each,omitempty"`
}

// GuardRule puts Prefix before a prompt that Pattern matches.
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

// PassRule passes variables if one of its conditions is true. A prompt could make a CLI reveal any variable that it
// has.
type PassRule struct {
	// Pass names variables, in the form of Spec.PassEnv.
	Pass []string `json:"pass"`
	// Env: the CLI sees one of these variables, set to a value other than "", "0" and "false".
	Env []string `json:"env,omitempty"`
	// Files: one of these files matches. A file of the working directory never matches, nor does a file in a
	// container.
	Files []FileFact `json:"files,omitempty"`
	// Models: the requested model begins with one of these.
	Models []string `json:"models,omitempty"`
}

// FileRow is a temporary file that exists during the call and that only its owner can read. Its path is the
// template field "<Field>_file".
type FileRow struct {
	Field   string `json:"field"`
	Name    string `json:"name"`    // base name, such as "system.md"
	Content string `json:"content"` // template
	When    When   `json:"when,omitzero"`
}

// OutputModes returns the output modes of the CLI, in order of preference; without any, text.
func (s *Spec) OutputModes() []OutputMode { return orDefault(s.Outputs, OutputText) }

// TransportModes returns the transports of the CLI, in order of preference; without any, argv.
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
