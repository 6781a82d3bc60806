// Package permit holds what the operator of a program allows a request that somebody else wrote: a job of a queue, a
// line of a file, the body of an HTTP request. One value, [Permissions], says it, and one call applies it.
//
// The rules are data: each field of a request has one, and a field without a rule fails the tests.
package permit

import "github.com/clichain/clichain/call"

// Permissions is what a request that somebody else wrote may do. The zero value allows a question with AccessNone, to
// any model, of up to 16 MiB, and nothing besides: no directory, no file, no variable, no argument, no tool by name, no
// session. It is a plain value: its methods change nothing, and may run at once.
//
// In Env and Models, a trailing "*" stands for any text. All else has to be equal, character by character.
type Permissions struct {
	// Access is the most that Request.Access may be.
	Access call.Access
	// Dirs are the directories in and below which Request.Dir, Options.AddDirs and Options.Images may lie, after all
	// links are followed. The first is used where a request with access names none. Nil: with Access above AccessNone
	// the working directory of this process, else none.
	Dirs []string
	// Extra has the arguments that Options.Extra may hold, by backend, each exactly as it has to be. A request may
	// repeat them and choose their order, so write "--name=value" as one argument. Nil: none.
	Extra map[string][]string
	// Env names the variables that Request.Env may set. The backend has to allow them too: see Config.RequestEnv. Nil:
	// none.
	Env []string
	// Models are those that Request.Model and Options.FallbackModel may name, as the request writes them. A request
	// that names none gets the CLI's own. Nil: any.
	Models []string
	// Tools are those that Options.AllowedTools may name, in the CLI's own terms. A shell is any command. They are no
	// patterns, because claude reads "Bash(git log) Bash" as two tools. Nil: none.
	Tools []string
	// Modes are those that Options.PermissionMode may name, in the CLI's own terms. Nil: none.
	Modes []string
	// MCP allows Options.MCPConfig, which starts programs and reads files that the request names.
	MCP bool
	// Agents allows Options.Agents. Their definitions may bring tools, hooks and MCP servers.
	Agents bool
	// Sessions allows Request.Session, Options.Continue and Options.SessionID. A session holds a conversation that
	// somebody else may have had.
	Sessions bool
	// Billing is who has to pay for each request. Empty: whoever the request or the backend says.
	Billing call.Billing
	// MaxBytes bounds the size of a request as JSON. Zero: 16 MiB. Below zero: no bound.
	MaxBytes int64
}

// defaultMaxBytes is far above what any model takes.
const defaultMaxBytes = 16 << 20

// Apply returns the request as it may be run: with its paths resolved, with the directory and the payer filled in that
// the permissions choose. The error is a [*call.Error] with the reason permission_refused that names the first field
// that is not allowed; the request is then the zero value, which no backend answers.
//
// A path is examined when Apply is called. Whoever can replace a directory on that path until the CLI runs can lead it
// elsewhere.
func (p Permissions) Apply(req call.Request) (call.Request, error) {
	for _, r := range rules {
		if err := r.apply(&p, &req); err != nil {
			return call.Request{}, err
		}
	}
	return req, nil
}
