package call

import (
	"encoding/json"
)

// Role is who wrote a message.
type Role string

// The roles. Any other is refused with bad_request.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"` // valid UTF-8, no NUL
}

// Request is one question. It is a plain value that survives JSON, fit for a
// queue; a backend never changes it. A zero Request is refused: it asks
// nothing.
type Request struct {
	// Messages is the conversation. System messages are joined and go where
	// the CLI takes a system prompt; a lone user message is sent as it is.
	Messages []Message `json:"messages"`
	// Model is a model name, an alias, "backend/model", or the name or slug
	// of a backend. Empty, "default" and "unknown" leave the choice to the CLI.
	Model string `json:"model,omitempty"`
	// Access is what the agent may do. Zero: AccessNone.
	Access Access `json:"access,omitempty"`
	// Dir is the directory to work in. Empty: that of the Session, else the
	// process's own.
	Dir string `json:"dir,omitempty"`
	// Session is a Response.Session to go on from: only the backend that made
	// it can. Calls that go on from one session in this process wait for each
	// other. Empty: a new session.
	Session string `json:"session,omitempty"`
	// Schema is a JSON Schema that the answer must meet. Empty: free text.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Options are the finer settings. A backend that cannot honour one that is
	// set is skipped as unsupported.
	Options Options `json:"options,omitzero"`
	// Metadata is the caller's own: carried to the Response, never read.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Prompt makes a Request of one user message.
func Prompt(text string) Request {
	return Request{Messages: []Message{{Role: RoleUser, Content: text}}}
}
