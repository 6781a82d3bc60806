package call

import (
	"encoding/json"
	"time"
)

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of events that the rules of a spec produce, with the fields of [Event] that they set.
const (
	EventSession    EventKind = "session"          // a session began: Session, Model, KeySource
	EventDelta      EventKind = "delta"            // a part of the answer: Text
	EventText       EventKind = "text"             // a block of text, after a blank line unless it is the first: Text
	EventThinking   EventKind = "thinking"         // reasoning: Text
	EventToolUse    EventKind = "tool_use"         // a tool started: ID, Name, Input
	EventToolResult EventKind = "tool_result"      // a tool ended: ID, Text
	EventStatus     EventKind = "status"           // the current activity of the CLI: Text
	EventCompact    EventKind = "compact_boundary" // the CLI shortened the conversation: Trigger, PreTokens
	EventUsage      EventKind = "usage"            // the consumption of one step: Usage
	EventRetry      EventKind = "retry"            // the CLI retries a request: Reason, Try, Status, Message, Delay
	EventLimit      EventKind = "limit"            // a reached (Failed) or near limit: Code, RetryAfter, KeySource, Quota
	EventWarning    EventKind = "warning"          // a problem that does not fail the call: Message
	EventError      EventKind = "error"            // something failed: Reason, Message, Code, Status
	EventResult     EventKind = "result"           // the summary of the CLI: Text, Usage, Failed
	EventRaw        EventKind = "raw"              // a line that no rule matches: Raw

	// The events that clichain produces.
	EventStart   EventKind = "start"   // a run of the backend begins
	EventAttempt EventKind = "attempt" // a backend failed or was skipped: Attempt
	EventReset   EventKind = "reset"   // discard the text so far: Message
	EventDone    EventKind = "done"    // the call succeeded, always the last event: Response

	// EventState is the new state of a live session: Text; after a failure also Reason and Message.
	EventState EventKind = "state"
)

// Event is one step of a call. Its Kind determines which fields are set; the others are zero. It is a plain value
// that can be stored as JSON, with Delay in milliseconds ("delay_ms").
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
	Trigger   string `json:"trigger,omitempty"`    // of an EventCompact: "auto" or "manual"
	PreTokens int64  `json:"pre_tokens,omitempty"` // tokens before the EventCompact

	Reason     Reason        `json:"reason,omitempty"` // class of a retry, a limit or an error; empty: unknown
	Status     int           `json:"status,omitempty"` // HTTP status
	Code       string        `json:"code,omitempty"`   // the error code of the backend
	Message    string        `json:"message,omitempty"`
	Try        int           `json:"try,omitempty"`        // number of the retry, from 1
	Delay      time.Duration `json:"-"`                    // until the retry
	RetryAfter time.Time     `json:"retry_after,omitzero"` // when the limit ends
	Failed     bool          `json:"failed,omitempty"`     // the call or the tool failed, or the limit was reached
	Usage      Usage         `json:"usage,omitzero"`       // of a step; in an EventResult of the call
	Quota      []QuotaWindow `json:"quota,omitempty"`      // the usage windows, for EventLimit
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

// MarshalJSON returns the event with its delay as "delay_ms".
func (e Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{plainEvent(e), milliseconds(e.Delay)})
}

// UnmarshalJSON parses the output of MarshalJSON.
func (e *Event) UnmarshalJSON(data []byte) error {
	var in eventJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*e = Event(in.plainEvent)
	e.Delay = fromMilliseconds(in.DelayMS)
	return nil
}

// Question is a request of a CLI for permission to use a tool. It is a plain value.
type Question struct {
	// Tool is the name that the CLI has for the tool.
	Tool string
	// Input is the input of the tool. Nil: the CLI did not report it.
	Input json.RawMessage
}
