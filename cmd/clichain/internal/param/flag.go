package param

// The commands that share the flags of the table.
const (
	Ask    = "ask"
	Build  = "build"
	Batch  = "batch"
	Submit = "submit"
	Serve  = "serve"
	Worker = "worker"
	Work   = "work"
	MCP    = "mcp"
)

// Commands are all commands that share the flags of the table.
var Commands = []string{Ask, Build, Batch, Submit, Serve, Worker, Work, MCP}

// Flag is a row of the table.
type Flag struct {
	Name  string
	Short string // the letter of the short form; empty: none
	Group Group
	Help  string // the name of the value, which says its type, is in backquotes
	// Field is the field of a request or of a backend's configuration that the flag sets, by its name in errors. The
	// zero value is the name of the flag with underscores.
	Field string
	// Without maps each command that does not have the flag to the reason.
	Without map[string]string
	// HelpOf maps a command to its help text if that differs from Help.
	HelpOf map[string]string

	define define
}

const (
	inRequest    = "the client sets it in its request"
	inCall       = "the call of a tool sets it, or cannot set it"
	inJob        = "the job sets it"
	inOptions    = "the line sets it in its options"
	workers      = "the worker sets it"
	newSession   = "each attempt begins a session in a new copy"
	noAccess     = "requests of clients have access none"
	linesPrompt  = "the lines are the prompts"
	conversation = "each line is a separate conversation"
	timeoutOnly  = "--timeout and the default of --agent limit it"
)

// Reasons that several flags share: flags about the request, about the options of a batch line, about the prompt, about
// the backends and about agents.
var (
	ofRequest = map[string]string{Serve: inRequest, MCP: inCall, Worker: inJob}
	ofLine    = map[string]string{Serve: inRequest, MCP: inCall, Worker: inJob, Batch: inOptions}
	ofPrompt  = map[string]string{Serve: inRequest, MCP: inCall, Worker: inJob, Batch: linesPrompt}
	ofBackend = map[string]string{Submit: workers}
	ofAgent   = map[string]string{Submit: workers, Serve: noAccess}
)
