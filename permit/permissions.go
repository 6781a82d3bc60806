// Package permit restricts requests that come from outside of a program: a job of a queue, a line of a file, the body
// of an HTTP request. The operator sets [Permissions], and [Permissions.Apply] checks a request.
//
// Each field of a request has a rule. A test fails for a field without a rule.
package permit

import "github.com/clichain/clichain/call"

// Permissions restrict a request of an untrusted author. The zero value permits a request with AccessNone, to any
// model, of up to 16 MiB, without a directory, file, variable, raw argument, named tool or session. It is a plain
// value. Its methods do not modify it and are safe for concurrent use.
//
// In Env and Models, a trailing "*" matches any text. All other values must be equal.
type Permissions struct {
	// Access is the highest permitted Request.Access.
	Access call.Access
	// Dirs are the permitted directories: Request.Dir, Options.AddDirs and Options.Images must be in or below one of
	// them, after symbolic links are resolved. A request with access but without Dir gets the first one. Nil: none,
	// or with Access above AccessNone the working directory of this process.
	Dirs []string
	// Extra has the permitted arguments of Options.Extra, by backend. Each argument must be equal. A request can
	// repeat and reorder them, so write "--name=value" as one argument. Nil: none.
	Extra map[string][]string
	// Env are the permitted names of Request.Env. Config.RequestEnv of the backend must list them too. Nil: none.
	Env []string
	// Models are the permitted values of Request.Model and Options.FallbackModel. A request without a model gets the
	// default of the CLI. Nil: any.
	Models []string
	// Tools are the permitted elements of Options.AllowedTools, by the names that the CLI uses. A shell tool permits
	// any command. Patterns are not supported, because claude reads "Bash(git log) Bash" as two tools. Nil: none.
	Tools []string
	// Modes are the permitted values of Options.PermissionMode, by the names that the CLI uses. Nil: none.
	Modes []string
	// MCP permits Options.MCPConfig, which starts programs and reads files that the request chooses.
	MCP bool
	// Agents permits Options.Agents, whose definitions can add tools, hooks and MCP servers.
	Agents bool
	// Sessions permits Request.Session, Request.Threads, Options.Continue and Options.SessionID. A session contains a
	// conversation, possibly of another user.
	Sessions bool
	// Billing is the payer of each request. Empty: the payer that the request or the backend selects.
	Billing call.Billing
	// MaxBytes limits the size of a request as JSON. Zero: 16 MiB. Negative: no limit.
	MaxBytes int64
}

// defaultMaxBytes is far above the limit of any model.
const defaultMaxBytes = 16 << 20

// Apply checks the request and returns it with resolved paths, and with the directory and payer that the permissions
// select. The error is a [*call.Error] with the reason permission_refused and the first field that is not permitted.
// The returned request is then the zero value, which fails with every backend.
//
// Apply resolves paths when it is called. Another process that replaces a directory of a path before the CLI runs can
// redirect the path.
func (p Permissions) Apply(req call.Request) (call.Request, error) {
	for _, r := range rules {
		if err := r.apply(&p, &req); err != nil {
			return call.Request{}, err
		}
	}
	return req, nil
}
