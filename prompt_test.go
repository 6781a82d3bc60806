package clichain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

func system(text string) clichain.Message {
	return clichain.Message{Role: clichain.RoleSystem, Content: text}
}

func user(text string) clichain.Message {
	return clichain.Message{Role: clichain.RoleUser, Content: text}
}

func assistant(text string) clichain.Message {
	return clichain.Message{Role: clichain.RoleAssistant, Content: text}
}

func TestPrompt(t *testing.T) {
	for _, test := range []struct {
		name           string
		messages       []clichain.Message
		system, prompt string
	}{
		{"nothing", nil, "", ""},
		{"a lone user message is sent as it is", []clichain.Message{user("  Hi\n")}, "", "  Hi\n"},
		{"a system message changes nothing about that", []clichain.Message{system("S"), user("Hi")}, "S", "Hi"},
		{"system messages are joined, wherever they stand", []clichain.Message{system("S1"), user("Hi"), system("S2")}, "S1\n\nS2", "Hi"},
		{"several turns are labelled", []clichain.Message{user("A"), assistant("B"), user("C")}, "", "USER: A\n\nASSISTANT: B\n\nUSER: C"},
		{"two user messages are labelled", []clichain.Message{user("A"), user("B")}, "", "USER: A\n\nUSER: B"},
		{"a lone assistant message is labelled", []clichain.Message{assistant("A")}, "", "ASSISTANT: A"},
		{"only system", []clichain.Message{system("S")}, "S", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.system, clichain.SystemText(test.messages))
			require.Equal(t, test.prompt, clichain.PromptText(test.messages))
		})
	}
}

func TestPromptMakesOneUserMessage(t *testing.T) {
	require.Equal(t, clichain.Request{Messages: []clichain.Message{user("Hi")}}, clichain.Prompt("Hi"))
}

// Where a CLI takes no system text, it goes in front of the prompt.
func TestSystemInFront(t *testing.T) {
	for _, test := range []struct {
		name string
		spec clichain.CliSpec
		req  clichain.Request
		want string
	}{
		{"claude has a place", specs.Claude(), clichain.Request{Messages: []clichain.Message{system("S"), user("P")}}, "P"},
		{"gemini has one without tools", specs.Gemini(), clichain.Request{Messages: []clichain.Message{system("S"), user("P")}}, "P"},
		{"gemini has none with tools", specs.Gemini(), clichain.Request{Messages: []clichain.Message{system("S"), user("P")}, Access: clichain.AccessRead}, "SYSTEM: S\n\nP"},
		{"before labelled turns", specs.OpenCode(), clichain.Request{Messages: []clichain.Message{system("S"), user("P"), assistant("Q")}, Access: clichain.AccessWrite}, "SYSTEM: S\n\nUSER: P\n\nASSISTANT: Q"},
		{"the spec's own default is not for the prompt", specs.Gemini(), clichain.Request{Messages: []clichain.Message{user("P")}, Access: clichain.AccessRead}, "P"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inv, err := composerOf(t, test.spec).Compose(test.req, clichain.Choice{Transport: clichain.TransportStdin}, testHost())
			require.Nil(t, err)
			require.Equal(t, test.want, string(inv.Stdin))
		})
	}
}

// A prompt that begins with a slash would be a command of claude's own.
func TestGuard(t *testing.T) {
	for _, test := range []struct{ name, prompt, want string }{
		{"slash", "/clear", "\n/clear"},
		{"no slash", "clear /", "clear /"},
		{"a slash later", "\n/clear", "\n/clear"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, access := range allAccess {
				req := clichain.Prompt(test.prompt)
				req.Access = access
				inv, err := composerOf(t, specs.Claude()).Compose(req, clichain.Choice{}, testHost())
				require.Nil(t, err)
				require.Equal(t, test.want, string(inv.Stdin))
			}
		})
	}
}
