package clispec

import (
	"github.com/clichain/clichain/call"
)

// LoginRules say how to tell, without running the CLI, whether it is logged
// in, and who pays for its answers. The zero value means that nothing is known
// of that.
type LoginRules struct {
	// Ways are all the ways in that the CLI has, the one that it prefers first.
	// It is known to be logged out only where all of them are absent, so list
	// what may be a way in too, as Unsure. Empty: its login is unknown.
	Ways []LoginWay `json:"ways,omitempty"`
	// Status is the CLI's own command that tells.
	Status StatusRule `json:"status,omitzero"`
	// KeySources say who pays by what the CLI says of its credential: they map
	// a regular expression for the whole of a key_source to the Billing.
	KeySources map[string]call.Billing `json:"key_sources,omitempty"`
}

// LoginWay is one way in. All parts that are set must hold; the zero value
// always holds.
type LoginWay struct {
	// Env: the CLI sees one of these variables, set to anything but "", "0"
	// and "false"; a trailing "*" makes a prefix.
	Env []string `json:"env,omitempty"`
	// With: it sees one of these as well, in the same form.
	With []string `json:"with,omitempty"`
	// Files must all be there.
	Files []FileFact `json:"files,omitempty"`
	// OS lists the systems that have this way, by Go's names.
	OS []string `json:"os,omitempty"`
	// Unsure: what holds here shows that there may be a login, not that there
	// is one.
	Unsure bool `json:"unsure,omitempty"`
	// Billing is who pays for what is asked in this way.
	Billing call.Billing `json:"billing,omitempty"`
}

// FileFact is a file, and what is to be found in it.
type FileFact struct {
	// Path of the file or folder: "~" at its start is the home, "${NAME:-path}"
	// a variable that the CLI sees, or the path where it is not set. A path
	// that begins with "./" is looked for in the working directory and in all
	// the folders above it.
	Path string `json:"path"`
	// JSON maps a gjson path to a regular expression that the whole value
	// there must match. A file that cannot be read as JSON may have it.
	JSON map[string]string `json:"json,omitempty"`
	// Pattern is a regular expression that its text must match.
	Pattern string `json:"pattern,omitempty"`
	// Expires is the gjson path of a credential's end: an epoch in seconds or
	// milliseconds, a time as in RFC 3339, or a token that holds it (JWT).
	Expires string `json:"expires,omitempty"`
	// Refresh is the gjson path of what the CLI renews the credential with. An
	// expired one without it may be worth nothing.
	Refresh string `json:"refresh,omitempty"`
}

// StatusRule is a command of the CLI that tells whether it is logged in. The
// zero value means that it has none.
type StatusRule struct {
	// Args are its arguments.
	Args []string `json:"args,omitempty"`
	// Signs are what its output means; the first that holds decides. None of
	// them: nothing is known.
	Signs []StatusSign `json:"signs,omitempty"`
	// Whole: it knows all the ways in, so that its "no" counts for all.
	Whole bool `json:"whole,omitempty"`
}

// StatusSign is one outcome of a status command. All parts must hold.
type StatusSign struct {
	// Exit is the exit status.
	Exit int `json:"exit"`
	// JSON maps a gjson path to a regular expression for the whole value in the
	// JSON that it prints.
	JSON map[string]string `json:"json,omitempty"`
	// Pattern is a regular expression for what it prints, on stdout or stderr;
	// "^" and "$" are the ends of its lines.
	Pattern string `json:"pattern,omitempty"`
	// Login is what that means: LoginAuthenticated or LoginInstalled.
	Login LoginState `json:"login"`
	// Billing is who would pay.
	Billing call.Billing `json:"billing,omitempty"`
}

// LoginState is what is known of a backend's login.
type LoginState string

const (
	// LoginAuthenticated: there is a credential. Nobody has tried it.
	LoginAuthenticated LoginState = "authenticated"
	// LoginInstalled: the program is there, and it is logged out.
	LoginInstalled LoginState = "installed"
	// LoginNotFound: the program is not there.
	LoginNotFound LoginState = "not_found"
	// LoginUnknown: it may be logged in. A call tries it.
	LoginUnknown LoginState = "unknown"
)
