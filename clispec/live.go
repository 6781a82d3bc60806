package clispec

// LiveRules say how one process of the CLI answers many requests, in messages of
// JSON, one a line. The zero value means that it cannot. Of a list of messages the first
// whose condition holds is sent; of Ready and Opened all of them are, in order.
type LiveRules struct {
	// Envelope is how messages are written. Empty: the CLI has no live mode.
	Envelope LiveEnvelope `json:"envelope,omitempty"`
	// When is the condition for which the live mode is as safe as a call.
	When When `json:"when,omitzero"`
	// Guards change prompts that the CLI would take for a command of its own in the live
	// mode, in place of Spec.Guards. Empty: those.
	Guards []GuardRule `json:"guards,omitempty"`
	// Ready are sent when the process has started; it is ready when those
	// that have a response are answered.
	Ready []LiveMessage `json:"ready,omitempty"`
	// Open begins a context in which nothing was said, and Context is the path of its
	// id in the response. Empty: the process has one context, which Clear empties.
	Open    []LiveMessage `json:"open,omitempty"`
	Context string        `json:"context,omitempty"`
	// Resume is sent in place of Open for a request with a session, which is the id of the
	// context then: its messages name {session}. An id at Context must be the same one.
	// Empty: the CLI resumes no session by a message.
	Resume []LiveMessage `json:"resume,omitempty"`
	// Opened are sent when a context was begun or resumed, to set what Open does not. What the
	// CLI prints before their last response belongs to no turn.
	Opened []LiveMessage `json:"opened,omitempty"`
	// Turn asks a question, and TurnID is the path of the turn's id in the response.
	Turn   []LiveMessage `json:"turn,omitempty"`
	TurnID string        `json:"turn_id,omitempty"`
	// Interrupt ends the turn that goes on.
	Interrupt []LiveMessage `json:"interrupt,omitempty"`
	// Clear empties the only context. It is a turn of its own.
	Clear []LiveMessage `json:"clear,omitempty"`
	// Close gives up a context that Open began.
	Close []LiveMessage `json:"close,omitempty"`
	// Of is the path of the id of the context in a notice. A notice of another context is
	// not read, nor is one without the id, once the process has had an earlier context and
	// there is no Barrier. With Clear the id must change at Clear, and the last event of
	// Clear must have the new one. Empty: all notices are read, and Barrier is required.
	Of string `json:"of,omitempty"`
	// Barrier are requests that are sent when a new context was begun. The response must
	// prove that the CLI has printed all lines of the context before. Empty: Of is required.
	Barrier []LiveMessage `json:"barrier,omitempty"`
	// OfTurn is the path of the id of the turn, or alternatives "a ?? b": what is said of
	// a turn after its end is not read as the next one's, nor what is said of the earlier
	// turns of a session as that of the first turn after Resume. Empty: it is.
	OfTurn string `json:"of_turn,omitempty"`
	// Cumulative names the fields of a usage that the CLI adds up over the turns of a
	// context, as SessionRules.Cumulative does.
	Cumulative []string `json:"cumulative,omitempty"`
	// Calls is after how many calls a process is replaced by a new one, because those
	// of the CLI grow or slow down. Zero: 100.
	Calls int `json:"calls,omitempty"`
	// GrowthMB is by how many megabytes a process may grow before it is. Zero: 256.
	GrowthMB int `json:"growth_mb,omitempty"`
	// Asks are the requests of the CLI that have an answer. Any other is refused.
	Asks []AskRule `json:"asks,omitempty"`
	// Events read what the CLI sends, as Spec.Events do. The response to a message
	// with Ends is read as {"method": …, "result": …} or {"method": …, "error": …}.
	// Empty: Spec.Events.
	Events []EventRule `json:"events,omitempty"`
}

// LiveEnvelope is how messages are written.
type LiveEnvelope string

const (
	// EnvelopeJSONRPC is JSON-RPC 2.0, as in the Agent Client Protocol.
	EnvelopeJSONRPC LiveEnvelope = "json_rpc"
	// EnvelopeControl is that of claude: {"type": "control_request", …} and
	// {"type": "control_response", …}, beside messages with other types.
	EnvelopeControl LiveEnvelope = "control"
)

// OutputLive is the output mode of a CLI that runs in its live mode, for the
// conditions of rows. It is no choice for Config.Output.
const OutputLive OutputMode = "live"

// LiveMessage is one message to the CLI.
type LiveMessage struct {
	// Method is its name: in EnvelopeControl, the subtype of a request or the type of
	// a notice.
	Method string `json:"method"`
	// Params is a template of a JSON object; empty: none. Beside the fields of a
	// request it may have {context} and {turn}, their ids.
	Params string `json:"params,omitempty"`
	// Notice: it has no response.
	Notice bool `json:"notice,omitempty"`
	// Ends: its response is the end of the turn. Else an event that is terminal is.
	Ends bool `json:"ends,omitempty"`
	When When `json:"when,omitzero"`
}

// AskRule is a request of the CLI, such as one for a permission, with the answers
// that it understands. Answers are templates of JSON, in which {option} stands for
// the id of an option that the CLI offers, and {input} for the value at Input.
type AskRule struct {
	Method string `json:"method"`
	// Tool and Input are the paths of what is to be permitted, in the parameters.
	Tool  string `json:"tool,omitempty"`
	Input string `json:"input,omitempty"`
	// Options is the path of the list of options in the parameters. Each has an "id"
	// at OptionID and a kind at OptionKind. Empty: there is none.
	Options    string `json:"options,omitempty"`
	OptionID   string `json:"option_id,omitempty"`
	OptionKind string `json:"option_kind,omitempty"`
	// Allow and Deny are the answers. AllowKind and DenyKind are regular expressions
	// for the whole kind of the option to choose; the first option that matches is.
	Allow     string `json:"allow,omitempty"`
	AllowKind string `json:"allow_kind,omitempty"`
	Deny      string `json:"deny"`
	DenyKind  string `json:"deny_kind,omitempty"`
	// Otherwise is the answer where no option matches. Empty: the request is refused.
	Otherwise string `json:"otherwise,omitempty"`
}

// LiveFields are the template fields of messages beside those of a request.
var LiveFields = []string{"context", "turn"}

// AskFields are the template fields of answers.
var AskFields = []string{"option", "input"}

// Has reports whether the CLI has a live mode.
func (r *LiveRules) Has() bool { return r.Envelope != "" }
