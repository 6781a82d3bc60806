package clispec

import "github.com/clichain/clichain/call"

// LoginRules define how to find out, without running the CLI, whether it is logged in, and who pays for its
// answers. The zero value means that both are unknown.
type LoginRules struct {
	// Ways are all ways to log in to the CLI, in the order of its preference. The CLI counts as logged out only if
	// none applies, so list possible logins too, as Unsure. Empty: the login is unknown.
	Ways []LoginWay `json:"ways,omitempty"`
	// Status is the CLI's command that reports whether it is logged in.
	Status StatusRule `json:"status,omitzero"`
	// KeySources map a regular expression for a complete key_source, the credential that the CLI reports, to the
	// payer. If none matches, the login that was found names the payer.
	KeySources map[string]call.Billing `json:"key_sources,omitempty"`
}

// LoginWay is one way to log in. It applies if all parts that are set do; the zero value always applies.
type LoginWay struct {
	// Env: the CLI sees one of these variables, set to a value other than "", "0" and "false"; a trailing "*" makes
	// a prefix.
	Env []string `json:"env,omitempty"`
	// With: the CLI sees one of these variables as well, in the same form.
	With []string `json:"with,omitempty"`
	// Files must all exist and match.
	Files []FileFact `json:"files,omitempty"`
	OS    []string   `json:"os,omitempty"` // OS lists the operating systems with this way, by their names in Go.
	// Unsure: if this way applies, a login is possible but not certain.
	Unsure bool `json:"unsure,omitempty"`
	// Unproven: if this way applies, the CLI uses it, and the payer is known. But the service may reject a valid
	// credential, so the login is unknown.
	Unproven bool `json:"unproven,omitempty"`
	// Billing is the payer of calls with this login.
	Billing call.Billing `json:"billing,omitempty"`
}

// FileFact is a condition on one file: its existence and its content.
type FileFact struct {
	// Path is the path of the file or directory. "~" at its start is the home directory. "${NAME:-path}" is a
	// variable that the CLI sees, or the path if it is not set. "./" at its start means the working directory and
	// all directories above it.
	Path string `json:"path"`
	// JSON maps a gjson path to a regular expression that the complete value must match. A file that is not valid
	// JSON counts as unknown.
	JSON map[string]string `json:"json,omitempty"`
	// Keys is a regular expression for the complete name of a member in any object of the JSON. Unlike Pattern, it
	// decodes escapes. A file that is not valid JSON counts as unknown.
	Keys    string `json:"keys,omitempty"`
	Pattern string `json:"pattern,omitempty"` // Pattern is a regular expression that the text must match.
	// Expires is the gjson path of the expiry time of a credential: an epoch in seconds or milliseconds, an RFC
	// 3339 time, or a token that contains it (JWT).
	Expires string `json:"expires,omitempty"`
	// Refresh is the gjson path of the token that renews the credential. Without it, the login of an expired
	// credential is unknown.
	Refresh string `json:"refresh,omitempty"`
}

// StatusRule is a command of the CLI that reports whether it is logged in. The zero value means that there is none.
type StatusRule struct {
	Args []string `json:"args,omitempty"` // Args are its arguments.
	// Signs give the meaning of its output; the first that applies decides. If none applies, the login is unknown.
	Signs []StatusSign `json:"signs,omitempty"`
	// Whole: the command knows all ways to log in except those of the working directory. So its "no" counts for all
	// of them. It is also used to find the payer if Config.Billing is set, and variables and files do not show the
	// payer.
	Whole bool `json:"whole,omitempty"`
}

// StatusSign is one outcome of a status command. All parts must apply.
type StatusSign struct {
	Exit int `json:"exit"` // Exit is the exit code.
	// JSON maps a gjson path to a regular expression for the complete value in the JSON output.
	JSON map[string]string `json:"json,omitempty"`
	// Pattern is a regular expression for the output on stdout or stderr; "^" and "$" match at the ends of lines.
	Pattern string       `json:"pattern,omitempty"`
	Login   LoginState   `json:"login"`             // Login is the resulting state: LoginAuthenticated or LoginInstalled.
	Billing call.Billing `json:"billing,omitempty"` // Billing is the payer.
}

// LoginState is the known state of a backend's login.
type LoginState string

const (
	// LoginAuthenticated: there is a credential, which has not been tested.
	LoginAuthenticated LoginState = "authenticated"
	// LoginInstalled: the program is installed and logged out.
	LoginInstalled LoginState = "installed"
	// LoginNotFound: the program is not installed.
	LoginNotFound LoginState = "not_found"
	// LoginUnknown: the CLI may be logged in, so a call runs it.
	LoginUnknown LoginState = "unknown"
)

// SessionRules define how a CLI continues from an earlier answer.
type SessionRules struct {
	// ID is a regular expression for a complete session id. Some CLIs silently begin a new session for an id of
	// another format. Empty: any id.
	ID string `json:"id,omitempty"`
	// DirBound: a session can be continued only in the directory in which it was created.
	DirBound bool `json:"dir_bound,omitempty"`
	// SameID: the CLI reports the id of the session that it continues. Another id means that it began a new
	// session, and ends the run.
	SameID bool `json:"same_id,omitempty"`
	// Cumulative names the fields of a usage that the CLI adds up over the calls of a session, such as "cost_usd".
	// clichain subtracts the amounts of earlier calls. The names are those of EventRule.Set.
	Cumulative []string `json:"cumulative,omitempty"`
}

// PreflightRule is a condition under which clichain refuses a call before anything starts, because the CLI would
// refuse it.
type PreflightRule struct {
	When When `json:"when,omitzero"`
	// Match maps a request field to a regular expression that one of its values must match completely.
	Match map[string]string `json:"match,omitempty"`
	// Root: the user is root.
	Root bool `json:"root,omitempty"`
	// UnlessEnv: the CLI sees one of these variables, set to a value other than "", "0" and "false".
	UnlessEnv []string    `json:"unless_env,omitempty"`
	Reason    call.Reason `json:"reason"`
	Message   string      `json:"message"`
	Hint      string      `json:"hint,omitempty"`
}

// EventRule turns a JSON value of the CLI's output into an [Event]. Every rule that matches applies, in order,
// until a rule with Last matches.
type EventRule struct {
	// Match maps a path to a regular expression that the complete value must match; a missing value and null are
	// "". Paths are gjson paths. With Each, a path that begins with "@." starts at the element.
	Match map[string]string `json:"match"`
	// Each is the path of an array: the rule applies to each element. "path|@members" is an object, whose members
	// are elements {"key": …, "value": …}.
	Each string `json:"each,omitempty"`
	// Kind is the event to make.
	Kind call.EventKind `json:"kind"`
	// Set maps an event field to a path, to alternatives "a ?? b", or to a literal "=text". docs/reference/specs.md
	// lists the fields.
	Set map[string]string `json:"set,omitempty"`
	// Terminal: this event states the outcome of the call and is its last.
	Terminal bool `json:"terminal,omitempty"`
	// Last: later rules do not apply to this value.
	Last bool `json:"last,omitempty"`
}

// LineRule finds the Reason in error text. It never sees the model's text. It searches only the fields of error
// events, stderr, and the stdout of a failed run if it is not JSON.
type LineRule struct {
	// Pattern is a regular expression. Named groups: status (an HTTP status), attempt, message, reset (a point in
	// time), delay (a duration), variable (an environment variable).
	Pattern string `json:"pattern"`
	// On lists the places to search. Empty: all.
	On []Evidence `json:"on,omitempty"`
	// Kind is EventError (also the meaning of ""), which explains a failure; EventRetry, which explains a wait;
	// EventWarning; or EventStatus for a line of stderr that explains nothing.
	Kind call.EventKind `json:"kind,omitempty"`
	// Reason is the class of the failure. Empty: from the group status, or from the wording in the group message.
	Reason call.Reason `json:"reason,omitempty"`
	// Fatal: such a line on stderr ends the run at once, and later output is not an answer.
	Fatal bool `json:"fatal,omitempty"`
	// CooldownS is the cooldown in seconds if the text contains no time. Use it for a failure that lasts longer
	// than the usual cooldown of the Reason. Zero: the usual cooldown.
	CooldownS int `json:"cooldown_s,omitempty"`
	// Hint tells the user what to do; {group} is the text that this group of the pattern matched.
	Hint string `json:"hint,omitempty"`
}

// TextRule separates the messages of the CLI from other text in text mode. The prompt and the model's text explain
// no failure.
type TextRule struct {
	// AnswerOnly: stdout contains only the answer. So only line rules with OnStdout in On apply to the stdout of a
	// failed run. Otherwise all rules apply.
	AnswerOnly bool `json:"answer_only,omitempty"`
	// Prompt is a regular expression for the complete line of stderr that precedes the prompt and the model's text.
	// Empty: stderr does not contain them.
	Prompt string `json:"prompt,omitempty"`
	// Own is a regular expression for complete lines of the CLI itself after that line. They count if no other line
	// follows them.
	Own string `json:"own,omitempty"`
}

// Evidence is the place of an error text.
type Evidence string

// The places of error texts.
const (
	OnEvent  Evidence = "event"  // an error field of an event
	OnStderr Evidence = "stderr" // a line of stderr
	OnStdout Evidence = "stdout" // a line of stdout of a failed run, if it is not JSON
)
