package conformance_test

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// scene is a run to record: the request, and the replies of the model server.
type scene struct {
	name    string
	replies []loopback.Reply // in order; the last one repeats

	state   home.State
	model   string
	session string
	access  clichain.Access
	options clichain.Options
	output  clispec.OutputMode
	stream  bool          // Stream, not Complete
	extra   []string      // arguments in addition to the spec's
	env     []string      // environment variables that override the spec's
	timeout time.Duration // zero: one minute
}

// tries is the timeout of scenes in which a CLI retries for a minute or forever.
const tries = 10 * time.Second

func plays(name string, replies ...loopback.Reply) scene { return scene{name: name, replies: replies} }

func (s scene) within(timeout time.Duration) scene { s.timeout = timeout; return s }
func (s scene) as(state home.State) scene          { s.state = state; return s }
func (s scene) in(output clispec.OutputMode) scene { s.output = output; return s }
func (s scene) by(access clichain.Access) scene    { s.access = access; return s }
func (s scene) asking(model string) scene          { s.model = model; return s }
func (s scene) resuming(session string) scene      { s.session = session; return s }
func (s scene) limited(o clichain.Options) scene   { s.options = o; return s }
func (s scene) saying(args ...string) scene        { s.extra = args; return s }
func (s scene) under(env ...string) scene          { s.env = env; return s }
func (s scene) streamed() scene                    { s.stream = true; return s }

// The tools of the scenes, by CLI.
var (
	readTool = map[string]loopback.Reply{
		home.Claude:   loopback.Tool("Read", map[string]any{"file_path": "notes.txt"}),
		home.Codex:    shell(home.Codex, "cat notes.txt"),
		home.Gemini:   loopback.Tool("read_file", map[string]any{"file_path": "notes.txt"}),
		home.OpenCode: loopback.Tool("read", map[string]any{"filePath": "notes.txt"}),
		home.Copilot:  loopback.Tool("grep", map[string]any{"pattern": "sky", "output_mode": "content"}), // its tool for reading accepts only absolute paths
		home.Kimi:     loopback.Tool("Read", map[string]any{"path": "notes.txt"}),
		home.Pi:       loopback.Tool("read", map[string]any{"path": "notes.txt"}),
		home.Kilo:     loopback.Tool("read", map[string]any{"filePath": "notes.txt"}),
		home.Qwen:     loopback.Tool("read_file", map[string]any{"file_path": "WORK/notes.txt"}),
	}
	writeTool = map[string]loopback.Reply{
		home.Claude:   loopback.Tool("Write", map[string]any{"file_path": "out.txt", "content": "hello\n"}),
		home.Codex:    shell(home.Codex, "echo hello > out.txt"),
		home.Gemini:   loopback.Tool("write_file", map[string]any{"file_path": "out.txt", "content": "hello\n"}),
		home.OpenCode: loopback.Tool("write", map[string]any{"filePath": "out.txt", "content": "hello\n"}),
		home.Copilot:  loopback.Tool("create", map[string]any{"path": "out.txt", "file_text": "hello\n"}),
		home.Pi:       loopback.Tool("write", map[string]any{"path": "out.txt", "content": "hello\n"}),
		home.Kilo:     loopback.Tool("write", map[string]any{"filePath": "out.txt", "content": "hello\n"}),
		home.Qwen:     loopback.Tool("write_file", map[string]any{"file_path": "WORK/out.txt", "content": "hello\n"}),
	}
)

// unknownModels are model names that do not exist, in the form of each CLI.
var unknownModels = map[string]string{
	home.Claude: "claude-no-such-model", home.Codex: "gpt-no-such-model", home.Gemini: "gemini-no-such-model", home.OpenCode: "loop/no-such-model",
	home.Copilot: "gpt-no-such-model", home.Kimi: "kimi-no-such-model",
	home.Pi: "openai/no-such-model", home.Kilo: "loop/no-such-model",
	home.Qwen: "qwen-no-such-model",
}

// unknownSessions are session IDs that do not exist, in the form of each CLI.
var unknownSessions = map[string]string{
	home.Claude: "00000000-0000-4000-8000-000000000000", home.Codex: "00000000-0000-7000-8000-000000000000",
	home.Gemini: "00000000-0000-4000-8000-000000000000", home.OpenCode: "ses_000000000000000000000000",
	home.Copilot: "00000000-0000-4000-8000-000000000000", home.Kimi: "session_00000000-0000-4000-8000-000000000000",
	home.Pi: "00000000-0000-7000-8000-000000000000", home.Kilo: "ses_000000000000000000000000",
	home.Qwen: "00000000-0000-4000-8000-000000000000",
}

// scenes returns all scenes of a CLI.
func scenes(name string) []scene {
	all := slices.Concat(answers(), toolScenes(name), failures(name), own[name])
	all = slices.DeleteFunc(all, func(s scene) bool { return slices.Contains(unfit[name], s.name) })
	for i := range all {
		all[i].model = cmp.Or(all[i].model, models[name])
		if name == home.Kilo {
			all[i].timeout *= 3 // kilo needs ten seconds to start
		}
	}
	return all
}

func answers() []scene {
	half := loopback.Truncate(loopback.Text("This is half an"))
	return []scene{
		plays("ok", loopback.Text(hello)),
		plays("thinking", loopback.Join(loopback.Thinking("The user wants a greeting."), loopback.Text(hello))),
		plays("blocks", loopback.Join(loopback.Text("First."), loopback.Text("Second."))),
		plays("fence", loopback.Text("```json\n{\"key\": \"value\"}\n```")),
		plays("text-ok", loopback.Text(hello)).in(clispec.OutputText),
		plays("empty", loopback.Reply{}).within(2 * tries),
		plays("truncated-then-ok", half, loopback.Text(hello)).within(2 * tries),
		plays("truncated", half).within(tries),
		plays("hang", loopback.Hang()).within(tries),
	}
}

func toolScenes(name string) []scene {
	done := loopback.Text("Done.")
	remark := func(tool loopback.Reply) loopback.Reply { return loopback.Join(loopback.Text("Let me look."), tool) }
	return []scene{
		plays("tool-none", shell(name, "echo ran"), done),
		plays("tool-read", readTool[name], done).by(clichain.AccessRead),
		plays("tool-write", writeTool[name], done).by(clichain.AccessWrite),
		plays("tool-denied", shell(name, "touch /var/tmp/clichain-outside"), done).by(clichain.AccessWrite),
		plays("tool-full", shell(name, "echo ran"), done).by(clichain.AccessFull),
		plays("tool-fails", shell(name, "exit 3"), done).by(clichain.AccessFull),
		plays("tool-remark", remark(shell(name, "echo ran")), done).by(clichain.AccessFull),
		plays("tool-then-empty", remark(shell(name, "echo ran")), loopback.Reply{}).by(clichain.AccessFull).within(2 * tries),
		plays("tool-then-401", remark(shell(name, "echo ran")), problem(name, http.StatusUnauthorized)).by(clichain.AccessFull).within(tries),
	}
}

// failures returns the failures that every service can cause.
func failures(name string) []scene {
	return []scene{
		plays("400", problem(name, http.StatusBadRequest)),
		plays("401", problem(name, http.StatusUnauthorized)).within(tries),
		plays("403", problem(name, http.StatusForbidden)).within(tries),
		plays("404-model", problem(name, http.StatusNotFound)).asking(unknownModels[name]).within(tries),
		plays("context", problem(name, http.StatusRequestEntityTooLarge)).within(tries),
		plays("429", problem(name, http.StatusTooManyRequests)).within(tries),
		plays("429-wait", problem(name, http.StatusTooManyRequests).With("retry-after", "30")).within(tries),
		plays("429-then-ok", problem(name, http.StatusTooManyRequests).With("retry-after", "1"), loopback.Text(hello)).within(2 * tries),
		plays("500", problem(name, http.StatusInternalServerError)).within(tries),
		plays("500-then-ok", problem(name, http.StatusInternalServerError), loopback.Text(hello)).within(2 * tries),
		plays("503", problem(name, http.StatusServiceUnavailable)).within(tries),
		plays("text-400", problem(name, http.StatusBadRequest)).in(clispec.OutputText),
		plays("loggedout", loopback.Text("never")).as(home.LoggedOut).asking(loggedOutModels[name]).within(tries),
		plays("bad-session", loopback.Text("never")).resuming(unknownSessions[name]),
		plays("bad-flag", loopback.Text("never")).saying("--no-such-flag"), // simulates a spec that is newer than the CLI
	}
}

// loggedOutModels are the models of CLIs that would otherwise search for one on the network.
var loggedOutModels = map[string]string{home.OpenCode: "loop/m1", home.Kilo: "loop/m1"}

// problem returns an error with the text of the CLI's service, or of opencode's if none is listed.
func problem(name string, status int) loopback.Reply {
	words, ok := problems[status][name]
	if !ok {
		words = problems[status][home.OpenCode] // most services use these texts
	}
	return loopback.Error(cmp.Or(words.status, status), words.kind, words.message)
}

type words struct {
	kind, message string
	status        int // zero: the status of the request to problem
}

var problems = map[int]map[string]words{
	http.StatusBadRequest: {
		home.Claude:   {kind: "invalid_request_error", message: "messages: at least one message is required"},
		home.Codex:    {kind: "invalid_request_error", message: "Invalid request"},
		home.Gemini:   {kind: "INVALID_ARGUMENT", message: "Request contains an invalid argument."},
		home.OpenCode: {kind: "invalid_request_error", message: "Invalid request"},
	},
	http.StatusUnauthorized: {
		home.Claude:   {kind: "authentication_error", message: "invalid x-api-key"},
		home.Codex:    {kind: "invalid_api_key", message: "Incorrect API key provided"},
		home.Gemini:   {kind: "UNAUTHENTICATED", message: "Request had invalid authentication credentials."},
		home.OpenCode: {kind: "invalid_api_key", message: "Incorrect API key provided"},
	},
	http.StatusForbidden: {
		home.Claude:   {kind: "permission_error", message: "Your API key does not have permission to use the specified resource"},
		home.Codex:    {kind: "permission_denied", message: "Country, region, or territory not supported"},
		home.Gemini:   {kind: "PERMISSION_DENIED", message: "The caller does not have permission"},
		home.OpenCode: {kind: "permission_denied", message: "Country, region, or territory not supported"},
	},
	http.StatusNotFound: {
		home.Claude:   {kind: "not_found_error", message: "model: " + unknownModels[home.Claude]},
		home.Codex:    {kind: "model_not_found", message: "The model `" + unknownModels[home.Codex] + "` does not exist or you do not have access to it."},
		home.Gemini:   {kind: "NOT_FOUND", message: "models/" + unknownModels[home.Gemini] + " is not found for API version v1beta, or is not supported for generateContent."},
		home.OpenCode: {kind: "model_not_found", message: "The model `m1` does not exist or you do not have access to it."},
	},
	http.StatusRequestEntityTooLarge: {
		home.Claude:   {kind: "invalid_request_error", message: "prompt is too long: 250000 tokens > 200000 maximum", status: http.StatusBadRequest},
		home.Codex:    {kind: "context_length_exceeded", message: "Your input exceeds the context window of this model. Please adjust your input and try again.", status: http.StatusBadRequest},
		home.Gemini:   {kind: "INVALID_ARGUMENT", message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", status: http.StatusBadRequest},
		home.OpenCode: {kind: "context_length_exceeded", message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.", status: http.StatusBadRequest},
	},
	http.StatusTooManyRequests: {
		home.Claude:   {kind: "rate_limit_error", message: "This request would exceed your account's rate limit. Please try again later."},
		home.Codex:    {kind: "rate_limit_exceeded", message: "Rate limit reached for gpt-5.5. Please try again in 11.054s."},
		home.Gemini:   {kind: "RESOURCE_EXHAUSTED", message: "Resource has been exhausted (e.g. check quota)."},
		home.OpenCode: {kind: "rate_limit_exceeded", message: "Rate limit reached for m1. Please try again later."},
	},
	http.StatusInternalServerError: {
		home.Claude:   {kind: "api_error", message: "Internal server error"},
		home.Codex:    {kind: "server_error", message: "The server had an error while processing your request."},
		home.Gemini:   {kind: "INTERNAL", message: "An internal error has occurred. Please retry."},
		home.OpenCode: {kind: "server_error", message: "The server had an error while processing your request."},
	},
	http.StatusServiceUnavailable: {
		home.Claude:   {kind: "api_error", message: "Service temporarily unavailable"},
		home.Codex:    {kind: "server_is_overloaded", message: "The model is overloaded."},
		home.Gemini:   {kind: "UNAVAILABLE", message: "The model is overloaded. Please try again later."},
		home.OpenCode: {kind: "server_is_overloaded", message: "The engine is currently overloaded, please try again later"},
	},
}
