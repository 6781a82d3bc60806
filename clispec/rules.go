package clispec

import "github.com/clichain/clichain/call"

// LoginRules say how to tell, without running the CLI, whether it is logged
// in, and who pays for its answers. The zero value means that both are unknown.
type LoginRules struct {
	// Ways are all the ways to log in that the CLI has, the one that it prefers
	// first. It counts as logged out only if all of them are absent, so list
	// what may be a login too, as Unsure. Empty: its login is unknown.
	Ways []LoginWay `json:"ways,omitempty"`
	// Status is the CLI's own command that says whether it is logged in.
	Status StatusRule `json:"status,omitzero"`
	// KeySources say who pays: they map a regular expression for the whole of a
	// key_source, which is what the CLI says of its credential, to the Billing.
	// Where none matches, the login that was found says it.
	KeySources map[string]call.Billing `json:"key_sources,omitempty"`
}

// LoginWay is one way to log in. All parts that are set must hold; the zero value
// always holds.
type LoginWay struct {
	// Env: the CLI sees one of these variables, set to anything but "", "0"
	// and "false"; a trailing "*" makes a prefix.
	Env []string `json:"env,omitempty"`
	// With: the CLI sees one of these variables as well, in the same form.
	With []string `json:"with,omitempty"`
	// Files must all exist and match.
	Files []FileFact `json:"files,omitempty"`
	OS    []string   `json:"os,omitempty"` // OS lists the systems that have this way, by their names in Go.
	// Unsure: if this way holds, there may be a login, but it is not certain.
	Unsure bool `json:"unsure,omitempty"`
	// Unproven: if this way holds, it is the one that the CLI uses, and it is known
	// who pays; but the service may refuse a good credential, so whether the CLI is
	// logged in is unknown.
	Unproven bool `json:"unproven,omitempty"`
	// Billing is who pays for calls with this login.
	Billing call.Billing `json:"billing,omitempty"`
}

// FileFact is a condition on one file: that it exists, and what it has in it.
type FileFact struct {
	// Path of the file or folder: "~" at its start is the home, "${NAME:-path}"
	// a variable that the CLI sees, or the path where it is not set. A path
	// that begins with "./" is looked for in the working directory and in all
	// the folders above it.
	Path string `json:"path"`
	// JSON maps a gjson path to a regular expression that the whole value
	// there must match. A file that cannot be read as JSON counts as unknown.
	JSON map[string]string `json:"json,omitempty"`
	// Keys is a regular expression for the whole name of a member, which must
	// be in the JSON of the file, in whatever object. Unlike Pattern it sees
	// through escapes; a file that cannot be read as JSON counts as unknown.
	Keys    string `json:"keys,omitempty"`
	Pattern string `json:"pattern,omitempty"` // Pattern is a regular expression that its text must match.
	// Expires is the gjson path of a credential's expiry: an epoch in seconds or
	// milliseconds, a time as in RFC 3339, or a token that holds it (JWT).
	Expires string `json:"expires,omitempty"`
	// Refresh is the gjson path of what the CLI renews the credential with.
	// Without it, the login of an expired credential is unknown.
	Refresh string `json:"refresh,omitempty"`
}

// StatusRule is a command of the CLI that says whether it is logged in. The
// zero value means that it has none.
type StatusRule struct {
	Args []string `json:"args,omitempty"` // Args are its arguments.
	// Signs say what its output means; the first that holds decides. If none
	// holds, the login is unknown.
	Signs []StatusSign `json:"signs,omitempty"`
	// Whole: it knows all the ways to log in but those of the working
	// directory. So its "no" counts for all of them, and it is asked who pays
	// where that is limited and variables and files leave it open.
	Whole bool `json:"whole,omitempty"`
}

// StatusSign is one outcome of a status command. All parts must hold.
type StatusSign struct {
	Exit int `json:"exit"` // Exit is the exit status.
	// JSON maps a gjson path to a regular expression for the whole value in the
	// JSON that it prints.
	JSON map[string]string `json:"json,omitempty"`
	// Pattern is a regular expression for what it prints, on stdout or stderr;
	// "^" and "$" are the ends of its lines.
	Pattern string       `json:"pattern,omitempty"`
	Login   LoginState   `json:"login"`             // Login is the resulting state: LoginAuthenticated or LoginInstalled.
	Billing call.Billing `json:"billing,omitempty"` // Billing is who would pay.
}

// LoginState is what is known of a backend's login.
type LoginState string

const (
	// LoginAuthenticated: there is a credential, which has not been tried.
	LoginAuthenticated LoginState = "authenticated"
	// LoginInstalled: the program is installed and logged out.
	LoginInstalled LoginState = "installed"
	// LoginNotFound: the program is not installed.
	LoginNotFound LoginState = "not_found"
	// LoginUnknown: it may be logged in, so a call tries it.
	LoginUnknown LoginState = "unknown"
)

// SessionRules say how a CLI continues from an earlier answer.
type SessionRules struct {
	// ID is a regular expression for the whole of a session's id: some CLIs
	// silently begin a new session for an id of another shape. Empty: any id.
	ID string `json:"id,omitempty"`
	// DirBound: a session can be continued only in the directory it was made in.
	DirBound bool `json:"dir_bound,omitempty"`
	// SameID: the CLI names the session it continues; another name means that
	// it began a new session, which ends the run.
	SameID bool `json:"same_id,omitempty"`
	// Cumulative names the fields of a usage that the CLI adds up over the calls
	// of a session, such as "cost_usd": the amount of the earlier calls is
	// subtracted. The names are those of EventRule.Set.
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
	// Each is the path of an array: the rule applies to each element. "path|@members"
	// is that of an object, whose members are elements {"key": …, "value": …}.
	Each string `json:"each,omitempty"`
	// Kind is the event to make.
	Kind call.EventKind `json:"kind"`
	// Set maps an event field to a path, to alternatives "a ?? b", or to a
	// literal "=text". The fields are listed in docs/reference/specs.md.
	Set map[string]string `json:"set,omitempty"`
	// Terminal: this event states the outcome of the call, and is its last.
	Terminal bool `json:"terminal,omitempty"`
	// Last: later rules are not tried on this value.
	Last bool `json:"last,omitempty"`
}

// LineRule turns error text into a Reason. It never sees the model's own text:
// only the fields of error events, stderr, and the stdout of a run that failed
// and is no JSON.
type LineRule struct {
	// Pattern is a regular expression. Named groups: status (an HTTP status),
	// attempt, message, reset (a point in time), delay (a duration), variable (of
	// the environment).
	Pattern string `json:"pattern"`
	// On lists where it applies. Empty: everywhere.
	On []Evidence `json:"on,omitempty"`
	// Kind is EventError (also the meaning of ""), which explains a failure;
	// EventRetry, which explains a wait; EventWarning; or EventStatus, which
	// marks a line of stderr that explains nothing.
	Kind call.EventKind `json:"kind,omitempty"`
	// Reason is the class. Empty: from the group status, else from the words
	// in the group message.
	Reason call.Reason `json:"reason,omitempty"`
	// Fatal: such a line on stderr ends the run at once, and later output is not
	// used as an answer.
	Fatal bool `json:"fatal,omitempty"`
	// CooldownS is how many seconds a chain passes the backend over for, where the
	// text gives no time and the usual cooldown of the Reason is too short: what the
	// line says will not change by itself. Zero: that of the Reason.
	CooldownS int `json:"cooldown_s,omitempty"`
	// Hint tells a person what to do; {group} stands for what that group of the
	// pattern matched.
	Hint string `json:"hint,omitempty"`
}

// TextRule tells the words of the CLI itself from those of others in text mode. The
// prompt and the model's words explain no failure.
type TextRule struct {
	// AnswerOnly: stdout has nothing but the answer, so that only line rules with
	// OnStdout in On apply to that of a failed run. Otherwise all rules do.
	AnswerOnly bool `json:"answer_only,omitempty"`
	// Prompt is a regular expression for the whole line of stderr after which the
	// prompt and the model's words stand. Empty: they are not printed there.
	Prompt string `json:"prompt,omitempty"`
	// Own is a regular expression for whole lines of the CLI itself after that. They
	// count as far as no other line follows them.
	Own string `json:"own,omitempty"`
}

// Evidence is where an error text was found.
type Evidence string

// The places where an error text can be found.
const (
	OnEvent  Evidence = "event"  // an error field of an event
	OnStderr Evidence = "stderr" // a line of stderr
	OnStdout Evidence = "stdout" // a line of stdout, not JSON, of a failed run
)
