package clispec

import "github.com/clichain/clichain/call"

// LoginRules tell how to find out, without starting the CLI, whether it is logged in and who pays for its answers.
// The zero value means that both are unknown.
type LoginRules struct {
	// Ways are all the ways to log in that the CLI has, in the order in which it prefers them. The CLI counts as
	// logged out only if none of them is present, so also list possible logins, with Unsure. Empty: the login is
	// unknown.
	Ways []LoginWay `json:"ways,omitempty"`
	// Status is the command of the CLI that reports whether it is logged in.
	Status StatusRule `json:"status,omitzero"`
	// KeySources map a regular expression for a whole key_source, which is the source of the credentials that the CLI
	// reports, to the Billing. If none matches, the login that was found determines the Billing.
	KeySources map[string]call.Billing `json:"key_sources,omitempty"`
}

// LoginWay is one way to log in: all fields that are set must be true. The zero value is always true.
type LoginWay struct {
	// Env: the CLI sees one of these variables with a value other than "", "0" and "false". A trailing "*" makes a
	// prefix.
	Env []string `json:"env,omitempty"`
	// With: the CLI also sees one of these variables, in the same form.
	With []string `json:"with,omitempty"`
	// Files must all exist and match.
	Files []FileFact `json:"files,omitempty"`
	OS    []string   `json:"os,omitempty"` // OS lists the operating systems that have this way, by their GOOS.
	// Unsure: a match shows that there may be a login, but not that there is one.
	Unsure bool `json:"unsure,omitempty"`
	// Unproven: on a match, the CLI uses this way and the payer is known, but the service may refuse valid
	// credentials. So it is unknown whether the CLI is logged in.
	Unproven bool `json:"unproven,omitempty"`
	// Billing is the payer of calls with this login.
	Billing call.Billing `json:"billing,omitempty"`
}

// FileFact is a condition on one file: that it exists, and optionally on its content.
type FileFact struct {
	// Path is the path of the file or directory. A "~" at its start is the home directory. The form "${NAME:-path}" is
	// a variable that the CLI sees, or the path if the variable is not set. A path that starts with "./" is looked up
	// in the working directory and all of its parent directories.
	Path string `json:"path"`
	// JSON maps a gjson path to a regular expression that the whole value must match. A file that cannot be parsed as
	// JSON counts as unknown.
	JSON map[string]string `json:"json,omitempty"`
	// Keys is a regular expression that the whole name of a member in any object of the JSON file must match. Unlike
	// Pattern it decodes escape sequences. A file that cannot be parsed as JSON counts as unknown.
	Keys    string `json:"keys,omitempty"`
	Pattern string `json:"pattern,omitempty"` // Pattern is a regular expression that the text must match.
	// Expires is the gjson path of the expiry of the credentials: Unix time in seconds or milliseconds, an RFC 3339
	// time, or a token that contains it (JWT).
	Expires string `json:"expires,omitempty"`
	// Refresh is the gjson path of the token with which the CLI renews the credentials. Empty: the login is unknown
	// after the credentials have expired.
	Refresh string `json:"refresh,omitempty"`
}

// StatusRule is a command of the CLI that reports whether it is logged in. The zero value means that there is none.
type StatusRule struct {
	Args []string `json:"args,omitempty"` // Args are the arguments of the command.
	// Signs interpret the output of the command; the first match applies. If none matches, the login is unknown.
	Signs []StatusSign `json:"signs,omitempty"`
	// Whole: the command covers all ways to log in, except those of the working directory. A negative result then
	// applies to all of them. If Config.Billing restricts the payer and variables and files do not determine it, the
	// command is run.
	Whole bool `json:"whole,omitempty"`
}

// StatusSign is one outcome of a status command. All fields must match.
type StatusSign struct {
	Exit int `json:"exit"` // Exit is the exit code.
	// JSON maps a gjson path to a regular expression that the whole value in the JSON output must match.
	JSON map[string]string `json:"json,omitempty"`
	// Pattern is a regular expression for the output on stdout or stderr; "^" and "$" match at the ends of lines.
	Pattern string       `json:"pattern,omitempty"`
	Login   LoginState   `json:"login"`             // Login is the resulting state: LoginAuthenticated or LoginInstalled.
	Billing call.Billing `json:"billing,omitempty"` // Billing is the payer.
}

// LoginState is the known state of the login of a backend.
type LoginState string

const (
	// LoginAuthenticated: there are credentials, which were not tested.
	LoginAuthenticated LoginState = "authenticated"
	// LoginInstalled: the program is installed and logged out.
	LoginInstalled LoginState = "installed"
	// LoginNotFound: the program is not installed.
	LoginNotFound LoginState = "not_found"
	// LoginUnknown: the program may be logged in, so calls use it.
	LoginUnknown LoginState = "unknown"
)

// SessionRules tell how a CLI continues a session.
type SessionRules struct {
	// ID is a regular expression for the whole session id, because some CLIs silently start a new session for an id
	// of another form. Empty: any id.
	ID string `json:"id,omitempty"`
	// DirBound: a session can be continued only in the directory in which it was made.
	DirBound bool `json:"dir_bound,omitempty"`
	// SameID: the CLI reports the id of the session that it continues. Another id means that it started a new
	// session, and the run is terminated.
	SameID bool `json:"same_id,omitempty"`
	// Cumulative lists the fields of a usage that the CLI accumulates over the calls of a session, such as
	// "cost_usd"; the consumption of the earlier calls is subtracted. The names are those of EventRule.Set.
	Cumulative []string `json:"cumulative,omitempty"`
}

// PreflightRule is a condition under which a call is refused before a process starts, because the CLI would refuse
// it.
type PreflightRule struct {
	When When `json:"when,omitzero"`
	// Match maps a request field to a regular expression that one of its values must match as a whole.
	Match map[string]string `json:"match,omitempty"`
	// Root: the user is root.
	Root bool `json:"root,omitempty"`
	// UnlessEnv: the rule does not apply if the CLI sees one of these variables with a value other than "", "0" and
	// "false".
	UnlessEnv []string    `json:"unless_env,omitempty"`
	Reason    call.Reason `json:"reason"`
	Message   string      `json:"message"`
	Hint      string      `json:"hint,omitempty"`
}

// EventRule converts a JSON value of the output of the CLI to an [Event]. Every rule that matches applies, in order,
// up to one with Last.
type EventRule struct {
	// Match maps a gjson path to a regular expression that the whole value must match; a missing value and null are
	// "". With Each, a path that starts with "@." is relative to the element.
	Match map[string]string `json:"match"`
	// Each is the path of an array: the rule applies to each element. "path|@members" is the path of an object, whose
	// members are elements {"key": …, "value": …}.
	Each string `json:"each,omitempty"`
	// Kind is the kind of the event.
	Kind call.EventKind `json:"kind"`
	// Set maps an event field to a path, to alternatives "a ?? b", or to a literal "=text". docs/reference/specs.md
	// lists the fields.
	Set map[string]string `json:"set,omitempty"`
	// Terminal: this event has the outcome of the call and is its last event.
	Terminal bool `json:"terminal,omitempty"`
	// Last: later rules do not apply to this value.
	Last bool `json:"last,omitempty"`
}

// LineRule converts an error text to a Reason. It applies to the fields of error events, to stderr, and, if the run
// failed, to lines of stdout that are not JSON. It never applies to the text of the model.
type LineRule struct {
	// Pattern is a regular expression. Its named groups can be status (an HTTP status), attempt, message, reset (a
	// point in time), delay (a duration) and variable (of the environment). The group session is the id of the session
	// that holds the prompt.
	Pattern string `json:"pattern"`
	// On lists the sources to which the rule applies. Empty: all.
	On []Evidence `json:"on,omitempty"`
	// Kind is EventError (also the meaning of ""), which explains a failure; EventRetry, which explains a wait;
	// EventWarning; or EventStatus, which marks a line of stderr that explains nothing.
	Kind call.EventKind `json:"kind,omitempty"`
	// Reason is the class. Empty: it is derived from the group status, or from the text of the group message.
	Reason call.Reason `json:"reason,omitempty"`
	// Fatal: a matching line on stderr terminates the run, and later output is not used as an answer.
	Fatal bool `json:"fatal,omitempty"`
	// CooldownS is the cooldown in seconds if the text gives no time. Use it for a failure that will not disappear
	// within the usual cooldown of the Reason. Zero: the cooldown of the Reason.
	CooldownS int `json:"cooldown_s,omitempty"`
	// Hint is the next step for the user; {group} is the match of that group.
	Hint string `json:"hint,omitempty"`
}

// TextRule distinguishes messages of the CLI from other text in text mode. The prompt and the text of the model do
// not explain a failure.
type TextRule struct {
	// AnswerOnly: stdout has only the answer, so only line rules with OnStdout in On apply to the stdout of a failed
	// run. Otherwise all rules do.
	AnswerOnly bool `json:"answer_only,omitempty"`
	// Prompt is a regular expression for the whole line of stderr that the prompt and the text of the model follow.
	// Empty: stderr does not contain them.
	Prompt string `json:"prompt,omitempty"`
	// Own is a regular expression for whole lines of the CLI after that line. Such lines count only at the end of
	// stderr, without another line after them.
	Own string `json:"own,omitempty"`
}

// Evidence is the source of an error text.
type Evidence string

// The sources of an error text.
const (
	OnEvent  Evidence = "event"  // an error field of an event
	OnStderr Evidence = "stderr" // a line of stderr
	OnStdout Evidence = "stdout" // a line of stdout that is not JSON, if the run failed
)

// ServerFile is a file in which the user configures MCP servers that the CLI starts by itself. A call without
// access and a call with functions of the caller turn these servers off: their names are the field own_servers. Set
// JSON or Pattern.
type ServerFile struct {
	Path string `json:"path"` // in the form of FileFact.Path
	// JSON is the gjson path of the object that has a member for each server. The file may contain comments.
	JSON string `json:"json,omitempty"`
	// Pattern is a regular expression with the group "name". A match without a name is a server that cannot be turned
	// off, which causes a warning.
	Pattern string `json:"pattern,omitempty"`
	When    When   `json:"when,omitzero"`
}
