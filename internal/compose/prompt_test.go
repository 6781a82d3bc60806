package compose

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/transcript"
	"github.com/clichain/clichain/specs"
)

func system(text string) call.Message {
	return call.Message{Role: call.RoleSystem, Content: text}
}

func user(text string) call.Message {
	return call.Message{Role: call.RoleUser, Content: text}
}

func assistant(text string) call.Message {
	return call.Message{Role: call.RoleAssistant, Content: text}
}

func TestPrompt(t *testing.T) {
	for _, test := range []struct {
		name           string
		messages       []call.Message
		system, prompt string
	}{
		{"nothing", nil, "", ""},
		{"single user message stays unchanged", []call.Message{user("  Hi\n")}, "", "  Hi\n"},
		{"single user message with a system message", []call.Message{system("S"), user("Hi")}, "S", "Hi"},
		{"system messages are joined from all positions", []call.Message{system("S1"), user("Hi"), system("S2")}, "S1\n\nS2", "Hi"},
		{"several turns", []call.Message{user("A"), system("S"), assistant("B"), user("C")}, "S", transcript.Conversation([]call.Message{user("A"), assistant("B"), user("C")})},
		{"only system", []call.Message{system("S")}, "S", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.system, systemText(test.messages))
			require.Equal(t, test.prompt, promptText(test.messages))
		})
	}
}

func TestPromptMakesOneUserMessage(t *testing.T) {
	require.Equal(t, call.Request{Messages: []call.Message{user("Hi")}}, call.Prompt("Hi"))
}

// A system text that no row uses becomes the start of the prompt.
func TestSystemTextPrecedesPrompt(t *testing.T) {
	for _, test := range []struct {
		name string
		spec clispec.Spec
		req  call.Request
		want string
	}{
		{"claude has a system flag", specs.Claude(), call.Request{Messages: []call.Message{system("S"), user("P")}}, "P"},
		{"gemini has one without tools", specs.Gemini(), call.Request{Messages: []call.Message{system("S"), user("P")}}, "P"},
		{"gemini has none with tools", specs.Gemini(), call.Request{Messages: []call.Message{system("S"), user("P")}, Access: call.AccessRead}, "SYSTEM: S\n\nP"},
		{"before several turns", specs.OpenCode(), call.Request{Messages: []call.Message{system("S"), user("P"), assistant("Q")}, Access: call.AccessWrite}, "SYSTEM: S\n\n" + transcript.Conversation([]call.Message{user("P"), assistant("Q")})},
		{"default of the spec stays out of the prompt", specs.Gemini(), call.Request{Messages: []call.Message{user("P")}, Access: call.AccessRead}, "P"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inv, err := composerOf(t, test.spec).Compose(test.req, Choice{Transport: clispec.TransportStdin}, testHost())
			require.Nil(t, err)
			require.Equal(t, test.want, string(inv.Stdin))
		})
	}
}

// A prompt that begins with a slash would be a command of the CLI.
func TestGuard(t *testing.T) {
	for _, test := range []struct{ name, prompt, want string }{
		{"slash", "/clear", "\n/clear"},
		{"no slash", "clear /", "clear /"},
		{"slash after the start", "\n/clear", "\n/clear"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, spec := range []clispec.Spec{specs.Claude(), specs.Gemini()} {
				for _, access := range allAccess {
					req := call.Prompt(test.prompt)
					req.Access = access
					inv, err := composerOf(t, spec).Compose(req, Choice{}, testHost())
					require.Nil(t, err)
					require.Equal(t, test.want, string(inv.Stdin), spec.Name)
				}
			}
		})
	}
}

// A prompt with a leading dash must not become an option. A prompt that exceeds the length of an argument is refused.
func TestAwkwardPromptsOfCursor(t *testing.T) {
	long := strings.Repeat("x", MaxArg+1)
	for name, test := range map[string]struct{ prompt, last string }{
		"short":                                 {"hi", "hi"},
		"leading dash":                          {"--help me", "\n--help me"},
		"single dash":                           {"-", "\n-"},
		"two dashes":                            {"--", "\n--"},
		"as long as possible":                   {long[1:], long[1:]},
		"too long":                              {long, ""},
		"too long with the prefix for its dash": {"-" + long[2:], ""},
	} {
		t.Run(name, func(t *testing.T) {
			inv, err := composerOf(t, specs.Cursor()).Compose(call.Prompt(test.prompt), Choice{}, testHost())
			if test.last == "" {
				require.NotNil(t, err)
				require.Equal(t, call.ReasonUnsupported, err.Reason)
				require.Equal(t, "prompt", err.Option)
				require.ErrorContains(t, err, "131072 bytes exceeds the system's limit of 131071")
				require.ErrorContains(t, err, "shorten it, or use another backend")
				return
			}
			require.Nil(t, err)
			require.Equal(t, test.last, inv.Args[len(inv.Args)-1])
		})
	}
}
