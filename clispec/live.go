package clispec

// LiveRules define how one process of the CLI answers many requests, with messages of one line of JSON each. The
// zero value means that it cannot. clichain sends the first message of a list whose condition is true. It sends all
// messages of Ready and Opened whose conditions are true, in order.
type LiveRules struct {
	// Envelope is the format of messages. Empty: the CLI has no live mode.
	Envelope LiveEnvelope `json:"envelope,omitempty"`
	// When is the condition under which the live mode is as safe as a call.
	When When `json:"when,omitzero"`
	// Guards change prompts that the CLI would treat as commands in the live mode, instead of Spec.Guards. Empty:
	// Spec.Guards apply.
	Guards []GuardRule `json:"guards,omitempty"`
	// Ready are sent after the start of the process. The process is ready after the responses to them.
	Ready []LiveMessage `json:"ready,omitempty"`
	// Open begins an empty context, and Context is the path of its id in the response. Empty: the process has one
	// context, which Clear empties.
	Open    []LiveMessage `json:"open,omitempty"`
	Context string        `json:"context,omitempty"`
	// Resume is sent instead of Open for a request with a session. The session is the id of the context, and the
	// messages must contain {session}. An id at Context must be the same. Empty: no message resumes a session.
	Resume []LiveMessage `json:"resume,omitempty"`
	// Opened are sent after a context was begun or resumed, for settings that Open does not contain. Output before
	// their last response belongs to no turn.
	Opened []LiveMessage `json:"opened,omitempty"`
	// Turn sends a prompt, and TurnID is the path of the turn's id in the response.
	Turn   []LiveMessage `json:"turn,omitempty"`
	TurnID string        `json:"turn_id,omitempty"`
	// Interrupt ends the current turn.
	Interrupt []LiveMessage `json:"interrupt,omitempty"`
	// Clear empties the only context. It is a turn.
	Clear []LiveMessage `json:"clear,omitempty"`
	// Close closes a context that Open began.
	Close []LiveMessage `json:"close,omitempty"`
	// Of is the path of the id of the context in a notice. A notice of another context is ignored. After an earlier
	// context, and without Barrier, a notice without the id is ignored too. With Clear, the id must change at
	// Clear, and the last event of Clear must have the new id. Empty: all notices are read, and Barrier is
	// required.
	Of string `json:"of,omitempty"`
	// Barrier are requests that are sent after a new context has begun. The response must prove that the CLI has
	// printed all lines of the context before. Empty: Of is required.
	Barrier []LiveMessage `json:"barrier,omitempty"`
	// OfTurn is the path of the id of the turn, or alternatives "a ?? b". A line about a turn after its end does
	// not belong to the next turn, nor does a line about an earlier turn of a session to the first turn after
	// Resume. Empty: such lines count for the current turn.
	OfTurn string `json:"of_turn,omitempty"`
	// Cumulative names the fields of a usage that the CLI adds up over the turns of a context, as
	// SessionRules.Cumulative does.
	Cumulative []string `json:"cumulative,omitempty"`
	// Calls is the number of calls after which a new process replaces the process, because the processes of the
	// CLIs grow or slow down. Zero: 100.
	Calls int `json:"calls,omitempty"`
	// GrowthMB is the number of megabytes by which a process may grow before it is replaced. Zero: 256.
	GrowthMB int `json:"growth_mb,omitempty"`
	// Asks are the requests of the CLI that clichain answers. It rejects all others.
	Asks []AskRule `json:"asks,omitempty"`
	// Events read the output of the CLI, as Spec.Events do. They see the response to a message with Ends as
	// {"method": …, "result": …} or {"method": …, "error": …}. Empty: Spec.Events.
	Events []EventRule `json:"events,omitempty"`
}

// LiveEnvelope is the format of messages.
type LiveEnvelope string

const (
	// EnvelopeJSONRPC is JSON-RPC 2.0, as in the Agent Client Protocol.
	EnvelopeJSONRPC LiveEnvelope = "json_rpc"
	// EnvelopeControl is the format of claude: {"type": "control_request", …} and {"type": "control_response", …},
	// with other messages of other types.
	EnvelopeControl LiveEnvelope = "control"
)

// OutputLive is the output mode of a CLI in its live mode, for the conditions of rows. Config.Output cannot be
// OutputLive.
const OutputLive OutputMode = "live"

// LiveMessage is one message to the CLI.
type LiveMessage struct {
	// Method is its name: in EnvelopeControl, the subtype of a request or the type of a notice.
	Method string `json:"method"`
	// Params is a template of a JSON object; empty: none. In addition to the request fields it may contain the ids
	// {context} and {turn}.
	Params string `json:"params,omitempty"`
	// Notice: the message has no response.
	Notice bool `json:"notice,omitempty"`
	// Ends: the response is the end of the turn. Otherwise a terminal event is.
	Ends bool `json:"ends,omitempty"`
	When When `json:"when,omitzero"`
}

// AskRule is a request of the CLI, such as one for a permission, with the possible answers. Answers are templates
// of JSON, in which {option} is the id of an option that the CLI offers, and {input} the value at Input.
type AskRule struct {
	Method string `json:"method"`
	// Tool and Input are the paths of the tool and its input in the parameters.
	Tool  string `json:"tool,omitempty"`
	Input string `json:"input,omitempty"`
	// Options is the path of the list of options in the parameters. Each option has an "id" at OptionID and a kind
	// at OptionKind. Empty: the request has no options.
	Options    string `json:"options,omitempty"`
	OptionID   string `json:"option_id,omitempty"`
	OptionKind string `json:"option_kind,omitempty"`
	// Allow and Deny are the answers. AllowKind and DenyKind are regular expressions for the complete kind of the
	// option to choose; the first option that matches is chosen.
	Allow     string `json:"allow,omitempty"`
	AllowKind string `json:"allow_kind,omitempty"`
	Deny      string `json:"deny"`
	DenyKind  string `json:"deny_kind,omitempty"`
	// Otherwise is the answer if no option matches. Empty: the request is rejected.
	Otherwise string `json:"otherwise,omitempty"`
}

// LiveFields are the template fields of messages in addition to the request fields.
var LiveFields = []string{"context", "turn"}

// AskFields are the template fields of answers.
var AskFields = []string{"option", "input"}

// Has reports whether the CLI has a live mode.
func (r *LiveRules) Has() bool { return r.Envelope != "" }
