package clichain

import (
	"encoding/json"
	"time"
)

// EventKind is the kind of an [Event].
type EventKind string

const (
	EventSession    EventKind = "session"     // a session began: Session, Model, KeySource
	EventDelta      EventKind = "delta"       // a piece of the answer's text: Text
	EventText       EventKind = "text"        // a whole block of text: Text
	EventThinking   EventKind = "thinking"    // reasoning: Text
	EventToolUse    EventKind = "tool_use"    // a tool was started: ID, Name, Input
	EventToolResult EventKind = "tool_result" // and has ended: ID, Text
	EventStatus     EventKind = "status"      // what the CLI is doing: Text
	EventUsage      EventKind = "usage"       // consumption of one step: Usage
	EventRetry      EventKind = "retry"       // the CLI tries again: Try, Status, Message, Delay
	EventLimit      EventKind = "limit"       // a limit was hit or is near: Status text, RetryAfter
	EventWarning    EventKind = "warning"     // something a person may care about: Message
	EventError      EventKind = "error"       // something failed: Message, Code, Status
	EventResult     EventKind = "result"      // the CLI's own summary: Text, Usage, Failed
	EventRaw        EventKind = "raw"         // a line that no rule knows: Raw
	EventDone       EventKind = "done"        // the call succeeded: Response; always the last
)

// Event is one thing that happened during a call. Which fields are set depends
// on Kind; the rest are zero. A plain value.
type Event struct {
	Kind    EventKind `json:"kind"`
	Backend string    `json:"backend,omitempty"`

	Text  string          `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	Session   string `json:"session,omitempty"`
	Model     string `json:"model,omitempty"`
	KeySource string `json:"key_source,omitempty"`

	Status     int           `json:"status,omitempty"` // HTTP status
	Code       string        `json:"code,omitempty"`   // the backend's own name of an error
	Message    string        `json:"message,omitempty"`
	Try        int           `json:"try,omitempty"`        // number of a retry, from 1
	Delay      time.Duration `json:"delay,omitempty"`      // nanoseconds until that retry
	RetryAfter time.Time     `json:"retry_after,omitzero"` // when a limit ends
	Failed     bool          `json:"failed,omitempty"`     // a result that is a failure
	Usage      Usage         `json:"usage,omitzero"`       // of a step, or of the call in a result
	Raw        []byte        `json:"raw,omitempty"`        // the line, for EventRaw
	Response   *Response     `json:"response,omitempty"`   // of EventDone
	terminal   bool          // the CLI has no more to say
	found      finding       // what a line rule made of the text the event is of
	whole      bool          // a block of thinking, which may have come in pieces before
	partial    bool          // a result that was cut short: the text so far is the answer
}
