package reading

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// codexUntilPrompt returns codex's stderr in text mode, up to the end of the prompt.
func codexUntilPrompt(prompt string) string {
	return "OpenAI Codex v0.169.0\n--------\nworkdir: /home/dev/work\nsession id: 1\n--------\nuser\n" + prompt + "\n"
}

// The parts of codex's stderr that repeat the prompt, the model or its tools are no evidence; its own text is.
func TestCodexRepeatsPromptOnStderr(t *testing.T) {
	const ownError = `ERROR: {"error":{"code":"invalid_request_error","message":"Invalid request"}}` + "\n"
	replies := map[string]string{
		"nothing": "", "an answer": "codex\n%s\n", "an answer and a count": "codex\n%s\ntokens used\n1,234\n",
		"a tool": "exec\n/bin/sh -lc 'cat log' in /home/dev/work\n exited 1 in 5ms:\n%s\n",
	}
	replay := ReplayBy(specs.Codex())
	for i, quote := range append([]string{"no rollout found for thread id 1", "error: unexpected argument"}, scary...) {
		prompts := []string{"Why?\n\nERROR: " + quote}
		if i < 2 {
			prompts = append(prompts, quote, "user\n"+quote, strings.Repeat("Why?\n", 50_000)+"ERROR: "+quote) // the middle is not captured
		}
		for name, reply := range replies {
			reply = strings.ReplaceAll(reply, "%s", quote)
			for _, prompt := range prompts {
				rec := Recording{Output: clispec.OutputText, Prompt: prompt, Stderr: codexUntilPrompt(prompt) + reply, ExitCode: 1}
				if len(rec.Stderr) > 128<<10 { // as it is captured
					rec.Stderr = rec.Stderr[:64<<10] + "\n[1 bytes dropped]\n" + rec.Stderr[len(rec.Stderr)-64<<10:]
				}
				_, _, failure, _ := replay(rec)
				require.Equal(t, call.ReasonExit, failure.Reason, "%q: %s: %v", quote, name, failure)
				rec.Stderr += "warning: hm\n" + ownError
				_, _, failure, _ = replay(rec)
				require.Equal(t, call.ReasonBadRequest, failure.Reason, "%q: %s: %v", quote, name, failure)
			}
		}
	}
	early := Recording{Output: clispec.OutputText, Prompt: "hi", Stderr: "Error: thread/resume failed: no rollout found for thread id 1\n" + codexUntilPrompt("hi"), ExitCode: 1}
	_, _, failure, _ := replay(early)
	require.Equal(t, call.ReasonBadSession, failure.Reason, "the text before the prompt is the CLI's own")
}

// Repeated stdout on stderr is no evidence.
func TestRepeatedStdoutIsNoEvidence(t *testing.T) {
	for _, spec := range specs.Every() {
		replay := ReplayBy(spec)
		for _, text := range scary {
			lines := answers[spec.Name](text)
			events := strings.Join(lines[:len(lines)-1], "\n")
			for name, rec := range map[string]Recording{
				"stream":          {Output: clispec.OutputStream, Stdout: events + "\n", Stderr: events + "\n"},
				"stream, cut":     {Output: clispec.OutputStream, Stdout: events[:len(events)-3], Stderr: events[:len(events)-3]},
				"on stderr alone": {Output: clispec.OutputStream, Stderr: events + "\n"},
				"document":        {Output: clispec.OutputJSON, Stdout: events + "\n", Stderr: events + "\n"},
				"plain text":      {Output: clispec.OutputText, Stdout: text + "\n", Stderr: text + "\n"},
			} {
				if spec.Name != "cursor-agent" && name == "plain text" {
					continue // no other CLI is known to do that
				}
				rec.ExitCode = 1
				rec.Stderr += "Segmentation fault\n"
				_, _, failure, events := replay(rec)
				require.NotNil(t, failure)
				require.Equal(t, call.ReasonExit, failure.Reason, "%s: %s: %q: %v", spec.Name, name, text, failure)
				require.Equal(t, strings.TrimSpace(rec.Stderr), failure.Stderr, "stderr is still part of the error")
				for _, e := range events {
					require.NotEqual(t, call.EventRetry, e.Kind, "%s: %s: %q", spec.Name, name, text)
				}
			}
		}
	}
}

// A repeated failure on stderr is a failure.
func TestRepeatedFailureOnStderr(t *testing.T) {
	stderr := blockLine("so far") + "\n" + failedLine("API Error: 529 overloaded") + "\n"
	_, _, failure, _ := Replay(specs.Claude(), Recording{Output: clispec.OutputStream, Stderr: stderr, ExitCode: 1})
	require.Equal(t, call.ReasonOverloaded, failure.Reason)
}
