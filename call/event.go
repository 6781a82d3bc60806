package call

import (
	"encoding/json"
	"time"
)

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of events that the rules of a spec make.
const (
	EventSession    EventKind = "session"          // a session began: Session, Model, KeySource
	EventDelta      EventKind = "delta"            // a piece of the answer's text: Text
	EventText       EventKind = "text"             // a whole block, behind a blank line if it is not the first: Text
	EventThinking   EventKind = "thinking"         // reasoning: Text
	EventToolUse    EventKind = "tool_use"         // a tool was started: ID, Name, Input
	EventToolResult EventKind = "tool_result"      // and has ended: ID, Text
	EventStatus     EventKind = "status"           // what the CLI is doing: Text
	EventCompact    EventKind = "compact_boundary" // the CLI shortened the conversation: Trigger, PreTokens
	EventUsage      EventKind = "usage"            // consumption of one step: Usage
	EventRetry      EventKind = "retry"            // the CLI tries again by itself: Reason, Try, Status, Message, Delay
	EventLimit      EventKind = "limit"            // a limit was hit (Failed) or is watched: Code, RetryAfter, KeySource
	EventWarning    EventKind = "warning"          // a problem that fails nothing: Message
	EventError      EventKind = "error"            // something failed: Reason, Message, Code, Status
	EventResult     EventKind = "result"           // the CLI's own summary: Text, Usage, Failed
	EventRaw        EventKind = "raw"              // a line that no rule knows: Raw

	// The events that clichain itself makes.
	EventStart   EventKind = "start"   // a run of the backend begins
	EventAttempt EventKind = "attempt" // a backend failed or was skipped: Attempt
	EventReset   EventKind = "reset"   // discard the text so far, it is not the answer: Message
	EventDone    EventKind = "done"    // the call succeeded: Response; always the last

	// EventState is the state that a live session has entered: Text; after a failure also Reason and Message.
	EventState EventKind = "state"
)

// Event is one thing that happened during a call. Which fields are set depends
// on Kind; the others are zero. It is a plain value that survives JSON, with
// Delay in milliseconds ("delay_ms").
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
	Trigger   string `json:"trigger,omitempty"`    // of a compact boundary: "auto" or "manual"
	PreTokens int64  `json:"pre_tokens,omitempty"` // tokens before it

	Reason     Reason        `json:"reason,omitempty"` // class of a retry, a limit or an error; empty: unknown
	Status     int           `json:"status,omitempty"` // HTTP status
	Code       string        `json:"code,omitempty"`   // the backend's own name of an error
	Message    string        `json:"message,omitempty"`
	Try        int           `json:"try,omitempty"`        // number of a retry, from 1
	Delay      time.Duration `json:"-"`                    // until that retry
	RetryAfter time.Time     `json:"retry_after,omitzero"` // when a limit ends
	Failed     bool          `json:"failed,omitempty"`     // of a result, a tool's result or a limit: it did not succeed
	Usage      Usage         `json:"usage,omitzero"`       // of a step, or of the call in a result
	Raw        string        `json:"raw,omitempty"`        // the line, for EventRaw
	Attempt    *Attempt      `json:"attempt,omitempty"`    // of EventAttempt
	Response   *Response     `json:"response,omitempty"`   // of EventDone
}

// plainEvent has Event's fields without its methods.
type plainEvent Event

type eventJSON struct {
	plainEvent
	DelayMS float64 `json:"delay_ms,omitempty"`
}

// MarshalJSON writes the event with its delay as "delay_ms".
func (e Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{plainEvent(e), milliseconds(e.Delay)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Event) UnmarshalJSON(data []byte) error {
	var in eventJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*e = Event(in.plainEvent)
	e.Delay = fromMilliseconds(in.DelayMS)
	return nil
}

// Question is what a CLI asks for permission to do. A plain value.
type Question struct {
	// Tool is the name of the tool, in the CLI's own terms.
	Tool string
	// Input is what the tool is to be called with. Nil: the CLI does not say.
	Input json.RawMessage
}
