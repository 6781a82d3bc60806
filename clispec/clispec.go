// Package clispec declares the types of a spec, which describes a CLI as data, and validates specs. It has no code for
// a particular CLI, starts no process and reads no file. docs/reference/specs.md is the reference of the spec language.
package clispec

import "github.com/clichain/clichain/call"

// Spec describes one CLI as plain data. It has no functions, can be stored as JSON, and can be read from a file of
// the user. The same code interprets all specs.
//
// Name and Binary are enough for a CLI that takes `-p PROMPT` and prints its answer. The zero value of every other
// field means that the CLI does not have the feature. A Spec can be copied. Do not modify its slices and maps after
// passing it to a provider; backends read them concurrently.
type Spec struct {
	// Name is the name of the backend: lower-case letters, digits, "-", "_" and ".".
	Name string `json:"name"`
	// InstanceOf is the name of another spec, of which this spec is an instance: the same CLI with another home
	// directory, which SetEnv sets. In a file, the fields that the entry omits are those of the other spec. SKIP_CLI
	// turns an instance off by either name. Empty: not an instance.
	InstanceOf string `json:"instance_of,omitempty"`
	// Binary is the program to look up on PATH.
	Binary string `json:"binary"`
	// AltBinaries are other names of the program, tried after Binary.
	AltBinaries []string `json:"alt_binaries,omitempty"`
	// LinkNames are ambiguous names of the program, tried last. A file of such a name on PATH counts only if its
	// path, with symbolic links resolved, has an element that equals Binary or one of AltBinaries.
	LinkNames []string `json:"link_names,omitempty"`
	// Packages are the npm packages whose package.json has the version of the CLI.
	Packages []string `json:"packages,omitempty"`
	// ProviderSlug is an identifier of the vendor and its CLI, such as "anthropic-cli".
	ProviderSlug string `json:"provider_slug,omitempty"`
	// Vendor is the company whose models the CLI asks unless its user selects others, such as "anthropic". Empty: the
	// CLI has models of several vendors, or the vendor is unknown.
	Vendor string `json:"vendor,omitempty"`
	// MCPClients are the names by which the CLI introduces itself to MCP servers. A trailing "*" makes a prefix.
	MCPClients []string `json:"mcp_clients,omitempty"`
	// DefaultModel is the name of the model that the CLI is configured with. A request for it adds no model flag.
	DefaultModel string `json:"default_model,omitempty"`
	// UseModel is the model for requests that name none, or only the backend. UseEffort is the reasoning effort for
	// requests without Options.Effort. Empty: the CLI chooses. Use them for instances, so that one chain can ask the same
	// CLI with several models. Config.Model and Config.Effort override them.
	UseModel  string `json:"use_model,omitempty"`
	UseEffort string `json:"use_effort,omitempty"`
	// PromptStyle selects the arguments of a simple CLI if Args is empty.
	PromptStyle PromptStyle `json:"prompt_style,omitempty"`
	// SystemFlag is the flag for the system prompt if Args is empty. Empty: the system text precedes the prompt.
	SystemFlag string `json:"system_flag,omitempty"`
	// SystemDefault is the system text of an AccessNone request that has none. It replaces the long prompt of the
	// agent, which a completion does not need.
	SystemDefault string `json:"system_default,omitempty"`
	// Transports are the supported transports of the prompt, best first. Empty: argv.
	Transports []Transport `json:"transports,omitempty"`
	// Outputs are the supported output modes, best first. Empty: text.
	Outputs []OutputMode `json:"outputs,omitempty"`
	// Guards change prompts that the CLI would interpret as a command.
	Guards []GuardRule `json:"guards,omitempty"`
	// GuardFiles are empty files in the private directory of an AccessNone call. They prevent the CLI from looking
	// for files of these names in the parent directories.
	GuardFiles []string `json:"guard_files,omitempty"`
	// FolderFiles are files and directories through which an untrusted directory can influence the CLI or run code,
	// and which no option of the CLI disables. If one of them exists, an AccessRead or AccessWrite call is refused
	// (see Config.TrustDir). "./name" is also looked up in all parent directories except the home directory of the
	// user. "name" is not.
	FolderFiles []string `json:"folder_files,omitempty"`
	// Args is the ordered argument table. Empty: see PromptStyle.
	Args []ArgRow `json:"args,omitempty"`
	// ReadTools are the tools of the CLI that an AccessRead call has. With AccessRead, Options.AllowedTools may list
	// only these tools. Empty: with AccessRead the option is refused.
	ReadTools []string `json:"read_tools,omitempty"`
	// AgentTools are the tools of the CLI that Config.Agent permits with AccessWrite if the request lists none.
	AgentTools []string `json:"agent_tools,omitempty"`
	// Env is the table of environment variables to set.
	Env []EnvRow `json:"env,omitempty"`
	// SetEnv sets variables as if they were set in the environment of the host. The CLI gets them, and rows of Env and
	// Config.Env override them. A "~" at the start of a value is the home directory. The forms ${NAME} and
	// ${NAME:-default} are variables of the host. An empty value hides the variable of the host. If a part of a value
	// is unknown, every call fails.
	SetEnv map[string]string `json:"set_env,omitempty"`
	// Files are temporary files that the call needs.
	Files []FileRow `json:"files,omitempty"`
	// Servers lists the files in which the user configures MCP servers.
	Servers []ServerFile `json:"servers,omitempty"`
	// PassEnv lists variables of the host that the CLI may see, in addition to the common ones. A trailing "*" makes
	// a prefix.
	PassEnv []string `json:"pass_env,omitempty"`
	// PassEnvIf lists further variables for a CLI that is configured to use them, such as credentials of clouds and
	// of other vendors.
	PassEnvIf []PassRule `json:"pass_env_if,omitempty"`
	// DropEnv lists variables that are never passed, in the form of PassEnv, which it overrides: variables that would
	// change the behavior that this spec relies on.
	DropEnv []string `json:"drop_env,omitempty"`
	// NestedEnv lists variables that identify an outer session of the same agent, in the same form. They are never
	// passed either; see Config.RefuseNested.
	NestedEnv []string `json:"nested_env,omitempty"`
	// Models tells which model names the CLI accepts.
	Models ModelRules `json:"models,omitzero"`
	// Sessions tells how the CLI continues a session.
	Sessions SessionRules `json:"sessions,omitzero"`
	// Preflight lists conditions under which the CLI would refuse to run.
	Preflight []PreflightRule `json:"preflight,omitempty"`
	// Login tells how to find out whether the CLI is logged in, and who pays.
	Login LoginRules `json:"login,omitzero"`
	// Trust lists the files in which the CLI stores the directories that its user trusts; one match is enough. {dir}
	// in a path or a pattern is the directory. Empty: the CLI has no trusted directories.
	Trust []FileFact `json:"trust,omitempty"`
	// Confine tells which files the CLI needs if the kernel confines it.
	Confine ConfineRules `json:"confine,omitzero"`
	// Events parse the JSON output of the CLI, in order.
	Events []EventRule `json:"events,omitempty"`
	// ToolEvents tells when the stream mode reports the use of a tool. The other modes never report it. Empty: never.
	ToolEvents ToolEvents `json:"tool_events,omitempty"`
	// Answer selects the text that is the answer if no event contains the whole answer.
	Answer AnswerMode `json:"answer,omitempty"`
	// Lines parse error texts, in order, before the rules that all specs have in common.
	Lines []LineRule `json:"lines,omitempty"`
	// Text tells which text the text mode prints.
	Text TextRule `json:"text,omitzero"`
	// ExitCodes map exit codes with a specific meaning to a Reason.
	ExitCodes map[int]call.Reason `json:"exit_codes,omitempty"`
	// Hints are next steps for the user, by Reason.
	Hints map[call.Reason]string `json:"hints,omitempty"`
	// Quota tells which usage windows the CLI reports, and where else than in its output.
	Quota QuotaRules `json:"quota,omitzero"`
	// Live tells how one process answers many requests.
	Live LiveRules `json:"live,omitzero"`
	// LingerMS is the time in milliseconds for which the process may run after its terminal event before it is
	// terminated. Zero: 500.
	LingerMS int `json:"linger_ms,omitempty"`
	// CheckedWith is the version of the CLI that this spec was tested with. If the installed version is newer,
	// Response.Drift reports it. If the installed version is unknown, rows with versions apply as for this version, or
	// as for the newest version if CheckedWith is empty.
	CheckedWith string `json:"checked_with,omitempty"`
}

// PromptStyle selects how a simple CLI takes its prompt.
type PromptStyle string

const (
	// DashP, also the meaning of the zero value, is `-p PROMPT`.
	DashP PromptStyle = "dash_p"
	// RunSubcommand is `run PROMPT`.
	RunSubcommand PromptStyle = "run_subcommand"
)

// Transport is the way in which the CLI gets the prompt.
type Transport string

const (
	// TransportStdin writes the prompt to stdin and closes it.
	TransportStdin Transport = "stdin"
	// TransportArgv passes the prompt as an argument, whose length is limited and which other users of the machine
	// can see.
	TransportArgv Transport = "argv"
)

// OutputMode is the format of the stdout of the CLI.
type OutputMode string

// The output modes.
const (
	OutputStream OutputMode = "stream" // one JSON event per line
	OutputJSON   OutputMode = "json"   // one JSON document at the end
	OutputText   OutputMode = "text"   // the answer as text
)

// AnswerMode selects the text of a run that is the answer.
type AnswerMode string

const (
	// AnswerAfterTools, also the meaning of the zero value: all text after the last tool use, or all text if there is
	// none.
	AnswerAfterTools AnswerMode = "after_tools"
	// AnswerLastBlock: the last block of text.
	AnswerLastBlock AnswerMode = "last_block"
)

// ToolEvents tells when a CLI reports the use of a tool. With AccessWrite and AccessFull, a failed run is not retried
// if a tool may have started without a report.
type ToolEvents string

const (
	// ToolsNever, also the meaning of the zero value: the CLI reports no tools, or not all of them.
	ToolsNever ToolEvents = "never"
	// ToolsAtStart: before the tool runs.
	ToolsAtStart ToolEvents = "start"
	// ToolsAtEnd: after the tool has ended. Another event of the CLI, such as a status event, shows that a turn of
	// its model has begun.
	ToolsAtEnd ToolEvents = "end"
)

// ToolEventsIn returns when a run in an output mode reports the use of a tool.
func (s *Spec) ToolEventsIn(output OutputMode) ToolEvents {
	if output != OutputStream || s.ToolEvents == "" {
		return ToolsNever
	}
	return s.ToolEvents
}

// When is the condition of a row: all fields that are set must be true. The zero value is always true.
type When struct {
	// Set and Unset list request fields (see docs/reference/specs.md) that must be set, or must not be set.
	Set   []string `json:"set,omitempty"`
	Unset []string `json:"unset,omitempty"`
	// Access, Output and Transport list the values for which the condition is true.
	Access    []call.Access `json:"access,omitempty"`
	Output    []OutputMode  `json:"output,omitempty"`
	Transport []Transport   `json:"transport,omitempty"`
	// Env: the CLI sees one of these variables with a value other than "", "0" and "false".
	Env []string `json:"env,omitempty"`
	// Since and Before limit the installed version, such as "2.1.0": Since is the first version that supports the
	// row, and Before is the first version that no longer does.
	Since  string `json:"since,omitempty"`
	Before string `json:"before,omitempty"`
}

// ArgRow is one row of the argument table. Its arguments are templates in which {field} is the value of a request
// field, and {field_file} is the path of a [FileRow].
type ArgRow struct {
	Args []string `json:"args"`
	When When     `json:"when,omitzero"`
	// Each repeats the row for every element of a list field. In the templates, the field is the element.
	Each string `json:"each,omitempty"`
}

// GuardRule adds Prefix before a prompt that matches Pattern.
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

// PassRule passes variables if one of its conditions is true. Variables that the CLI does not need are not passed,
// because a prompt could make it reveal them.
type PassRule struct {
	// Pass lists variables, in the form of Spec.PassEnv.
	Pass []string `json:"pass"`
	// Env: the CLI sees one of these variables with a value other than "", "0" and "false".
	Env []string `json:"env,omitempty"`
	// Files: one of these files matches. Files in the working directory of the CLI never match, and in a container no
	// file does.
	Files []FileFact `json:"files,omitempty"`
	// Models: the model of the request starts with one of these prefixes.
	Models []string `json:"models,omitempty"`
	// Read lists files and directories that the CLI may then read if it is confined, in the form of ConfineRules.Read.
	Read []string `json:"read,omitempty"`
	// Write lists caches of credentials that the CLI may then also change if it is confined, in the same form.
	Write []string `json:"write,omitempty"`
}

// FileRow is a temporary file that exists during the call and that only its owner can read. Its path is the template
// field "<Field>_file".
type FileRow struct {
	Field   string `json:"field"`
	Name    string `json:"name"`    // base name, such as "system.md"
	Content string `json:"content"` // template
	// Workdir puts the file into the working directory of an AccessNone call, which is then a private directory of the
	// call. Name is a path below it.
	Workdir bool `json:"workdir,omitempty"`
	When    When `json:"when,omitzero"`
}

// OutputModes returns the output modes of the CLI, best first. The default is text.
func (s *Spec) OutputModes() []OutputMode { return orDefault(s.Outputs, OutputText) }

// TransportModes returns the transports of the prompt, best first. The default is argv.
func (s *Spec) TransportModes() []Transport { return orDefault(s.Transports, TransportArgv) }

func orDefault[T any](list []T, absent T) []T {
	if len(list) == 0 {
		return []T{absent}
	}
	return list
}

// ArgTable returns Args, or the argument table of the PromptStyle.
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
