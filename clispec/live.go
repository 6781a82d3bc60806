package clispec

// LiveRules describe the live mode, in which one process of the CLI answers many requests through JSON messages, one
// per line. The zero value means that the CLI has no live mode. From a list of messages, the first whose condition is
// true is sent; from Ready and Opened, all of them are sent in order.
type LiveRules struct {
	// Envelope is the format of the messages. Empty: the CLI has no live mode.
	Envelope LiveEnvelope `json:"envelope,omitempty"`
	// When is the condition under which the live mode is as safe as a single run.
	When When `json:"when,omitzero"`
	// Guards replace Spec.Guards in the live mode. Empty: Spec.Guards.
	Guards []GuardRule `json:"guards,omitempty"`
	// Ready are sent when the process has started. It is ready after it has answered all of them that have a
	// response.
	Ready []LiveMessage `json:"ready,omitempty"`
	// Open starts an empty context, and Context is the path of its id in the response. Empty: the process has one
	// context, which Clear empties.
	Open    []LiveMessage `json:"open,omitempty"`
	Context string        `json:"context,omitempty"`
	// Resume replaces Open for a request with a session, whose id is that of the context. Its messages contain
	// {session}. An id at Context must be the same. Empty: the CLI resumes no session in the live mode.
	Resume []LiveMessage `json:"resume,omitempty"`
	// Opened are sent after a context was started or resumed, for settings that Open does not have. Output before
	// their last response belongs to no turn.
	Opened []LiveMessage `json:"opened,omitempty"`
	// Turn sends the prompt, and TurnID is the path of the id of the turn in the response.
	Turn   []LiveMessage `json:"turn,omitempty"`
	TurnID string        `json:"turn_id,omitempty"`
	// Interrupt ends the current turn.
	Interrupt []LiveMessage `json:"interrupt,omitempty"`
	// Clear empties the only context. It is a separate turn.
	Clear []LiveMessage `json:"clear,omitempty"`
	// Close closes a context that Open started.
	Close []LiveMessage `json:"close,omitempty"`
	// Of is the path of the context id in a notice. Notices of another context are ignored. If the process has had an
	// earlier context and there is no Barrier, notices without an id are ignored too. With Clear, the id must change
	// at Clear, and the last event of Clear must have the new id. Empty: no notice is ignored, and Barrier is
	// required.
	Of string `json:"of,omitempty"`
	// Barrier are requests that are sent after a new context was started. The response must prove that the CLI has
	// printed all lines of the earlier context. Empty: Of is required.
	Barrier []LiveMessage `json:"barrier,omitempty"`
	// OfTurn is the path of the turn id, or alternatives "a ?? b". An event of a turn that has ended is not assigned
	// to the next turn. After Resume, an event of an earlier turn is not assigned to the first turn. Empty: events are
	// assigned to the current turn.
	OfTurn string `json:"of_turn,omitempty"`
	// Usage asks for the usage windows of the plan, after a turn that reported no used share. The rules parse the response
	// as that to a message with Ends. A process that does not answer within 250 ms, or refuses, is not asked again.
	Usage []LiveMessage `json:"usage,omitempty"`
	// Cumulative lists the fields of a usage that the CLI accumulates over the turns of a context, as
	// SessionRules.Cumulative does for a session.
	Cumulative []string `json:"cumulative,omitempty"`
	// Calls is the number of calls after which a process is replaced, because processes of the CLI grow or slow down.
	// Zero: 100.
	Calls int `json:"calls,omitempty"`
	// GrowthMB is the growth in megabytes after which a process is replaced. Zero: 256.
	GrowthMB int `json:"growth_mb,omitempty"`
	// Asks are the requests of the CLI that get an answer. All others are refused.
	Asks []AskRule `json:"asks,omitempty"`
	// Events parse the messages of the CLI, as Spec.Events do. The response to a message with Ends is parsed as
	// {"method": …, "result": …} or {"method": …, "error": …}. Empty: Spec.Events.
	Events []EventRule `json:"events,omitempty"`
}

// LiveEnvelope is the format of the messages.
type LiveEnvelope string

const (
	// EnvelopeJSONRPC is JSON-RPC 2.0, as in the Agent Client Protocol.
	EnvelopeJSONRPC LiveEnvelope = "json_rpc"
	// EnvelopeControl is the format of claude: {"type": "control_request", …} and {"type": "control_response", …},
	// and messages with other types.
	EnvelopeControl LiveEnvelope = "control"
)

// OutputLive is the output mode of the live mode, for the conditions of rows. It is not valid for Config.Output.
const OutputLive OutputMode = "live"

// LiveMessage is one message to the CLI.
type LiveMessage struct {
	// Method is the name of the message: with EnvelopeControl, the subtype of a request or the type of a notice.
	Method string `json:"method"`
	// Params is a template of a JSON object. In addition to the fields of a request, it may contain the ids {context}
	// and {turn}. Empty: none.
	Params string `json:"params,omitempty"`
	// Notice: the message has no response.
	Notice bool `json:"notice,omitempty"`
	// Ends: the response ends the turn. Otherwise a terminal event ends it.
	Ends bool `json:"ends,omitempty"`
	When When `json:"when,omitzero"`
}

// AskRule is a request of the CLI, such as for a permission, with its possible answers. Answers are templates of
// JSON, in which {option} is the id of an option that the CLI offers, and {input} is the value at Input.
type AskRule struct {
	Method string `json:"method"`
	// Tool and Input are the paths of the tool and its input in the parameters.
	Tool  string `json:"tool,omitempty"`
	Input string `json:"input,omitempty"`
	// Options is the path of the list of options in the parameters. Each option has an id at OptionID and a kind at
	// OptionKind. Empty: there are no options.
	Options    string `json:"options,omitempty"`
	OptionID   string `json:"option_id,omitempty"`
	OptionKind string `json:"option_kind,omitempty"`
	// Allow and Deny are the answers. AllowKind and DenyKind are regular expressions for the whole kind of an option;
	// the first option that matches is chosen.
	Allow     string `json:"allow,omitempty"`
	AllowKind string `json:"allow_kind,omitempty"`
	Deny      string `json:"deny"`
	DenyKind  string `json:"deny_kind,omitempty"`
	// Otherwise is the answer if no option matches. Empty: the request is refused.
	Otherwise string `json:"otherwise,omitempty"`
}

// LiveFields are the template fields of messages, in addition to the fields of a request.
var LiveFields = []string{"context", "turn"}

// AskFields are the template fields of answers.
var AskFields = []string{"option", "input"}

// Has reports whether the CLI has a live mode.
func (r *LiveRules) Has() bool { return r.Envelope != "" }
