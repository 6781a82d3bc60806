// Package call declares the types of a call: the request and its options, the response, the events, and the error and
// attempts of a failed call. The root package has aliases of them. Package call does no I/O.
package call

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Role is the author of a message.
type Role string

// The roles. Any other role fails with bad_request.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one message of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"` // valid UTF-8 without NUL bytes
}

// Request is one call of a backend. It is a plain value that can be stored as JSON. A backend never modifies it. The
// zero value has no message and fails with bad_option.
type Request struct {
	// Messages is the conversation. The texts of system messages are joined and passed as the system prompt of the
	// CLI. A single user message is sent unchanged.
	Messages []Message `json:"messages"`
	// Model is the name of a model, an alias, "backend/model", or the name or provider slug of a backend. With "",
	// "default" or "unknown", the CLI chooses the model.
	Model string `json:"model,omitempty"`
	// Access is what the agent may do. Zero: AccessNone.
	Access Access `json:"access,omitempty"`
	// Dir is the working directory of the CLI, for AccessRead and higher levels. It must be empty with AccessNone.
	// Empty: the directory of the Session if this user has a record of it, otherwise the working directory of this
	// process.
	Dir string `json:"dir,omitempty"`
	// Session is the Response.Session to continue; only the backend that made it can do so. "backend:id" continues
	// the session with an id of the CLI. Calls in this process that continue the same session run one after the
	// other. Empty: a new session.
	Session string `json:"session,omitempty"`
	// Threads are the sessions that hold a part of Messages. A backend with a thread resumes its session and gets only
	// the messages that the session lacks; any other backend gets all. A chain asks the backend of the first thread
	// first, and the others in its order. If a CLI rejects the session of its thread, it answers all messages in a new
	// session, and the response has FlagFreshSession. With Threads, Session, Options.Continue and Options.SessionID
	// must not be set. Empty: no session holds a message. See package conversation.
	Threads []Thread `json:"threads,omitempty"`
	// Schema is a JSON Schema that the answer must match. Uncommon keywords, and drafts other than 7 and 2020-12,
	// need an import of package fullschema; otherwise the call fails with bad_option. Empty: free text.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Options are settings that only some backends support. A backend that does not support one of them is skipped as
	// unsupported.
	Options Options `json:"options,omitzero"`
	// Env sets environment variables of the CLI by name, such as the id of a chat or a job, for the commands that the
	// agent runs; also in a container. A backend is skipped as unsupported unless its Config.RequestEnv lists each
	// name. Variables of the spec and of Config.Env override them.
	Env map[string]string `json:"env,omitempty"`
	// Billing restricts who pays for this request, as Config.Billing does. A backend with another Config.Billing is
	// skipped with the reason billing. Empty: Config.Billing.
	Billing Billing `json:"billing,omitempty"`
	// Metadata is copied to the Response. clichain does not read it.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Thread is a session of a backend that holds the first messages of a request.
type Thread struct {
	// Backend is the name of the backend.
	Backend string `json:"backend"`
	// Session is its session, as in Response.Session. Empty: the backend keeps no session, and gets all messages.
	Session string `json:"session,omitempty"`
	// Messages is the number of messages of the request, counted from the first, that the session holds or that were
	// answered in it. System messages are passed with every call.
	Messages int `json:"messages,omitempty"`
	// Interrupted reports that the session has no answer to its last message, because the call failed.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Clone returns a deep copy of the request.
func (r Request) Clone() Request {
	r.Messages, r.Schema, r.Threads = slices.Clone(r.Messages), slices.Clone(r.Schema), slices.Clone(r.Threads)
	r.Env, r.Metadata = maps.Clone(r.Env), maps.Clone(r.Metadata)
	o := &r.Options
	o.AllowedTools, o.DisallowedTools = slices.Clone(o.AllowedTools), slices.Clone(o.DisallowedTools)
	o.AddDirs, o.Images = slices.Clone(o.AddDirs), slices.Clone(o.Images)
	o.Agents, o.MCPConfig = slices.Clone(o.Agents), slices.Clone(o.MCPConfig)
	for i, element := range o.MCPConfig {
		o.MCPConfig[i] = slices.Clone(element)
	}
	o.Extra = maps.Clone(o.Extra)
	for name, args := range o.Extra {
		o.Extra[name] = slices.Clone(args)
	}
	return r
}

// Prompt returns a Request that has text as its only user message.
func Prompt(text string) Request {
	return Request{Messages: []Message{{Role: RoleUser, Content: text}}}
}

// Options are settings that only some backends support; docs/reference/specs.md has a table. The zero value sets no
// option. Relative paths are relative to the working directory of this process.
type Options struct {
	// MaxTurns limits the turns of the agent. Zero: the limit of the CLI.
	MaxTurns int `json:"max_turns,omitempty"`
	// MaxBudgetUSD limits the cost of one call in US dollars. Zero: no limit.
	MaxBudgetUSD float64 `json:"max_budget_usd,omitempty"`
	// AllowedTools and DisallowedTools list names of tools of the CLI. With AccessRead, AllowedTools can only select
	// tools that do not change anything.
	AllowedTools    []string `json:"allowed_tools,omitempty"`
	DisallowedTools []string `json:"disallowed_tools,omitempty"`
	// PermissionMode is a permission mode of the CLI, such as "plan". Empty: the mode for the Access. A mode that
	// bypasses permissions needs AccessFull.
	PermissionMode string `json:"permission_mode,omitempty"`
	// SystemMode controls the system prompt of the CLI. Empty: SystemReplace for AccessNone, otherwise SystemAppend.
	SystemMode SystemMode `json:"system_mode,omitempty"`
	// AppendSystem is a text that is appended to the system prompt, also to that of the caller with SystemReplace.
	AppendSystem string `json:"append_system,omitempty"`
	// MCPConfig adds MCP servers. Each element is an object {"mcpServers": {...}}, or a JSON string with the path of
	// a file that contains such an object.
	MCPConfig []json.RawMessage `json:"mcp_config,omitempty"`
	// StrictMCP ignores all MCP servers except those of MCPConfig.
	StrictMCP bool `json:"strict_mcp,omitempty"`
	// FallbackModel is the model that the CLI uses while the first model is overloaded.
	FallbackModel string `json:"fallback_model,omitempty"`
	// Effort is a reasoning effort of the CLI, such as "high".
	Effort string `json:"effort,omitempty"`
	// Agents defines subagents, as a JSON object in the format of the CLI.
	Agents json.RawMessage `json:"agents,omitempty"`
	// SessionID is the id of the new session, in the format of the CLI. A call with a SessionID is not retried,
	// because the first run may have used the id.
	SessionID string `json:"session_id,omitempty"`
	// Continue continues the newest session of Request.Dir, including sessions that clichain did not start. If there
	// is none, the CLI starts a new session. It needs AccessRead or a higher level, because a call without access has
	// no working directory.
	Continue bool `json:"continue,omitempty"`
	// NoSessionPersistence does not store the session, so later calls cannot continue it.
	NoSessionPersistence bool `json:"no_session_persistence,omitempty"`
	// AddDirs are additional directories that the agent may use.
	AddDirs []string `json:"add_dirs,omitempty"`
	// Images are paths of image files for the model.
	Images []string `json:"images,omitempty"`
	// Extra has raw arguments for a CLI, by the name of the backend. They follow all other arguments except the
	// prompt. clichain does not check them.
	Extra map[string][]string `json:"extra,omitempty"`
}

// SystemMode controls the system prompt of a CLI.
type SystemMode string

const (
	// SystemAppend appends the system text of the caller to the system prompt of the CLI.
	SystemAppend SystemMode = "append"
	// SystemReplace replaces the system prompt of the CLI with the system text of the caller.
	SystemReplace SystemMode = "replace"
)

// Access is what an agent may do while it answers. Higher levels permit more. The zero value is the safest.
type Access int

const (
	// AccessNone, the zero value, returns text only: the CLI has no tools and no agent system prompt, and runs in an
	// empty private directory. A retry is always safe.
	AccessNone Access = iota
	// AccessRead lets the agent read files but change nothing.
	AccessRead
	// AccessWrite lets the agent edit files in Request.Dir.
	AccessWrite
	// AccessFull uses the bypass flags of the CLI: the agent may do anything that this user may do, with all files,
	// keys and the network. Settings in Request.Dir apply, and any text that the agent reads, from a file or the
	// network, can give it instructions. Use AccessFull only in an environment without valuable data, such as a
	// container made for the call.
	AccessFull
)

var accessNames = []string{"none", "read", "write", "full"}

// String returns "none", "read", "write" or "full".
func (a Access) String() string {
	if a < 0 || int(a) >= len(accessNames) {
		return fmt.Sprintf("Access(%d)", int(a))
	}
	return accessNames[a]
}

// MarshalText returns the name of the level. The error is not nil for an undefined level.
func (a Access) MarshalText() ([]byte, error) {
	if a < 0 || int(a) >= len(accessNames) {
		return nil, fmt.Errorf("access: %d is none of %q", int(a), accessNames)
	}
	return []byte(accessNames[a]), nil
}

// UnmarshalText parses the name of a level. The empty text is AccessNone. An unknown name is an error.
func (a *Access) UnmarshalText(text []byte) error {
	i := slices.Index(accessNames, string(text))
	if i < 0 && len(text) > 0 {
		return accessError(fmt.Sprintf("%q is none of %q", text, accessNames))
	}
	*a = Access(max(i, 0))
	return nil
}

// accessError is the message about an invalid name of a level.
type accessError string

func (e accessError) Error() string { return "access: " + string(e) }
