// Package call holds the values that every part of clichain shares: a request,
// its options, a response, the events of a run, and the error and attempts of
// a call that failed. It knows no CLI by name, starts no process and reads no
// file.
package call

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Role is who wrote a message.
type Role string

// The roles. Any other is refused with bad_request.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one message of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"` // valid UTF-8, no NUL
}

// Request is one question. It is a plain value that survives JSON, so it can
// wait in a queue; a backend never changes it. The zero value has no message
// and is refused with bad_request.
type Request struct {
	// Messages is the conversation. System messages are joined and go where
	// the CLI takes a system prompt; a single user message is sent unchanged.
	Messages []Message `json:"messages"`
	// Model is a model name, an alias, "backend/model", or the name or slug
	// of a backend. Empty, "default" and "unknown" leave the choice to the CLI.
	Model string `json:"model,omitempty"`
	// Access is what the agent may do. Zero: AccessNone.
	Access Access `json:"access,omitempty"`
	// Dir is the directory to work in, from AccessRead on; with AccessNone it is
	// refused. Empty: that in which the Session was made, as far as this user has
	// a record of it, else the working directory of this process.
	Dir string `json:"dir,omitempty"`
	// Session is a Response.Session to continue: only the backend that made it
	// can. "backend:id" does so with an id that the CLI itself has told. Calls that
	// continue one session in this process run one after the other. Empty: a new
	// session.
	Session string `json:"session,omitempty"`
	// Schema is a JSON Schema that the answer must meet. Uncommon keywords and
	// other drafts than 7 and 2020-12 need an import of clichain's package
	// fullschema; a call without it fails with bad_option. Empty: free text.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Options are settings that only some backends have. A backend that cannot
	// honour one that is set is skipped as unsupported.
	Options Options `json:"options,omitzero"`
	// Env sets variables of the CLI, such as the id of a chat or a job, by name: for
	// what the agent runs, in a container too. A backend whose Config.RequestEnv does
	// not list each name is skipped as unsupported. What the spec or Config.Env sets
	// wins over it.
	Env map[string]string `json:"env,omitempty"`
	// Billing is who has to pay, as in Config.Billing. A backend with another
	// Config.Billing is skipped with the reason billing. Empty: Config.Billing.
	Billing Billing `json:"billing,omitempty"`
	// Metadata belongs to the caller: it is copied to the Response and never read.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Clone returns a copy that shares nothing with the request that could be changed.
func (r Request) Clone() Request {
	r.Messages, r.Schema = slices.Clone(r.Messages), slices.Clone(r.Schema)
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

// Prompt makes a Request of one user message.
func Prompt(text string) Request {
	return Request{Messages: []Message{{Role: RoleUser, Content: text}}}
}

// Options are settings that only some backends have. The zero value sets none.
// docs/reference/specs.md has a table of what each built-in backend honours. Relative
// paths start at the working directory of this process.
type Options struct {
	// MaxTurns limits the agent's turns. Zero: the CLI's own limit.
	MaxTurns int `json:"max_turns,omitempty"`
	// MaxBudgetUSD limits what one call may cost, in US dollars. Zero: no limit.
	MaxBudgetUSD float64 `json:"max_budget_usd,omitempty"`
	// AllowedTools and DisallowedTools name tools in the CLI's own terms. With
	// AccessRead the first can only choose among the tools that only read.
	AllowedTools    []string `json:"allowed_tools,omitempty"`
	DisallowedTools []string `json:"disallowed_tools,omitempty"`
	// PermissionMode is the mode in the CLI's own terms, such as "plan". Empty:
	// the one that belongs to Access. A mode that bypasses permissions still
	// needs AccessFull.
	PermissionMode string `json:"permission_mode,omitempty"`
	// SystemMode says what becomes of the CLI's own system prompt. Empty:
	// SystemReplace for AccessNone, else SystemAppend.
	SystemMode SystemMode `json:"system_mode,omitempty"`
	// AppendSystem is added after the system prompt, whether that is the CLI's own
	// or, with SystemReplace, the caller's.
	AppendSystem string `json:"append_system,omitempty"`
	// MCPConfig gives the agent more tools: each element is an object
	// {"mcpServers": {...}}, or a JSON string that names a file with one.
	MCPConfig []json.RawMessage `json:"mcp_config,omitempty"`
	// StrictMCP leaves out all MCP servers but those of MCPConfig.
	StrictMCP bool `json:"strict_mcp,omitempty"`
	// FallbackModel is the model that the CLI itself uses while the first one
	// is overloaded.
	FallbackModel string `json:"fallback_model,omitempty"`
	// Effort is the reasoning effort in the CLI's own terms, such as "high".
	Effort string `json:"effort,omitempty"`
	// Agents defines subagents: a JSON object in the CLI's own terms.
	Agents json.RawMessage `json:"agents,omitempty"`
	// SessionID is the id of the new session, in the CLI's own terms, of the caller's
	// choice. Such a call is not tried a second time: the id is taken then.
	SessionID string `json:"session_id,omitempty"`
	// Continue continues the newest session of Request.Dir, whoever made it; where
	// there is none, the CLI begins one. It needs AccessRead or more: a call without
	// access works in no directory.
	Continue bool `json:"continue,omitempty"`
	// NoSessionPersistence keeps the session from being stored, so no later
	// call can continue it.
	NoSessionPersistence bool `json:"no_session_persistence,omitempty"`
	// AddDirs are further directories that the agent may work in.
	AddDirs []string `json:"add_dirs,omitempty"`
	// Images are files to look at.
	Images []string `json:"images,omitempty"`
	// Extra holds raw arguments for a CLI, by the backend's name. They come
	// after all others but the prompt, and are not checked.
	Extra map[string][]string `json:"extra,omitempty"`
}

// SystemMode says what becomes of a CLI's own system prompt.
type SystemMode string

const (
	// SystemAppend adds the caller's system text to the CLI's own.
	SystemAppend SystemMode = "append"
	// SystemReplace uses the caller's system text instead of the CLI's own.
	SystemReplace SystemMode = "replace"
)

// Access says what an agent may do while it answers. No level implies more
// than it says; the zero value is the safest.
type Access int

const (
	// AccessNone, the zero value, is a lean completion: no tools and no agent
	// system prompt, in a private directory that holds nothing. It is always safe
	// to run again.
	AccessNone Access = iota
	// AccessRead lets the agent read files and change nothing.
	AccessRead
	// AccessWrite lets the agent edit files in Request.Dir.
	AccessWrite
	// AccessFull uses the CLI's bypass flags: the agent may do anything this
	// user may do, with all of the user's files, keys and network. It trusts
	// Request.Dir: settings there apply, and any text that the agent reads, there
	// or on the network, may tell it what to do. Use it where there is nothing to
	// lose, such as in a container made for the call.
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

// MarshalText writes the name; an access level out of range is an error.
func (a Access) MarshalText() ([]byte, error) {
	if a < 0 || int(a) >= len(accessNames) {
		return nil, fmt.Errorf("access: %d is none of %q", int(a), accessNames)
	}
	return []byte(accessNames[a]), nil
}

// UnmarshalText reads a name; the empty text is AccessNone and an unknown name
// is an error.
func (a *Access) UnmarshalText(text []byte) error {
	i := slices.Index(accessNames, string(text))
	if i < 0 && len(text) > 0 {
		return accessError(fmt.Sprintf("%q is none of %q", text, accessNames))
	}
	*a = Access(max(i, 0))
	return nil
}

// accessError is what is wrong with the name of an access level.
type accessError string

func (e accessError) Error() string { return "access: " + string(e) }
