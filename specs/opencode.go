package specs

import "github.com/clichain/clichain"

// OpenCode is the opencode CLI.
func OpenCode() clichain.CliSpec {
	return clichain.CliSpec{
		Name: "opencode", Binary: "opencode",
		ProviderSlug: "opencode", DefaultModel: "opencode-default",
		PromptStyle:   clichain.RunSubcommand,
		SystemDefault: defaultSystem,
		CheckedWith:   "1.18.33",

		// Never argv: a prompt with a blank in it would arrive in quotes.
		Transports: []clichain.Transport{clichain.TransportStdin},
		Outputs:    []clichain.OutputMode{clichain.OutputStream, clichain.OutputText},

		Files: []clichain.FileRow{{Field: "system", Name: "system.md", Content: "{system}", When: clichain.When{Set: []string{"system"}, Access: []clichain.Access{clichain.AccessNone}}}},
		Args: []clichain.ArgRow{
			{Args: []string{"run"}},
			{Args: []string{"--format", "json", "--thinking"}, When: output(clichain.OutputStream)},
			// It tries for ever without a word, but in its log.
			{Args: []string{"--print-logs", "--log-level", "ERROR"}},
			// --pure: no external plugins. A title saves the request that
			// would ask the model for one.
			{Args: []string{"--pure", "--title", "clichain"}},
			{Args: []string{"--agent", "clichain"}, When: access(clichain.AccessNone)},
			{Args: []string{"-m", "{model}"}, When: set("model")},
			{Args: []string{"-s", "{session}"}, When: set("session")},
		},
		Env: []clichain.EnvRow{
			// A project's configuration may start programs.
			{Name: "OPENCODE_DISABLE_PROJECT_CONFIG", Value: "1", When: access(clichain.AccessNone)},
			{Name: "OPENCODE_CONFIG_CONTENT", Value: `{"agent":{"clichain":{"mode":"primary","prompt":"{file:{system_file:text}}","tools":{"*":false}}},"permission":{"*":"deny"}}`, When: access(clichain.AccessNone)},
			{Name: "OPENCODE_CONFIG_CONTENT", Value: `{"permission":{"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow"}}`, When: access(clichain.AccessRead)},
			{Name: "OPENCODE_CONFIG_CONTENT", Value: `{"permission":{"bash":"deny","webfetch":"deny","edit":"allow","external_directory":"deny"}}`, When: access(clichain.AccessWrite)},
			{Name: "OPENCODE_CONFIG_CONTENT", Value: `{"permission":"allow"}`, When: access(clichain.AccessFull)},
		},
		PassEnv: []string{
			"OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_API_KEY", "GOOGLE_*", "AWS_*", "AZURE_*", "GROQ_API_KEY", "MISTRAL_API_KEY",
			"OPENROUTER_API_KEY", "XAI_API_KEY", "DEEPSEEK_API_KEY", "CEREBRAS_API_KEY", "GITHUB_TOKEN", "HF_TOKEN",
		},
		DropEnv: []string{"OPENCODE_CONFIG_CONTENT", "OPENCODE_PID", "OPENCODE_PROCESS_ROLE", "OPENCODE_RUN_ID"},

		Models: clichain.ModelRules{Accept: []string{`^[^/\s]+/\S+$`}},

		Events: openCodeEvents(),
		Lines: []clichain.LineRule{
			// It would go on as its default agent, with all tools.
			{Pattern: `agent "clichain" not found`, Reason: clichain.ReasonUnsupported, On: onStderr(), Fatal: true, Hint: updateHint},
			{Pattern: `message="stream error".*error\.error="(?P<message>[^"]*)"`, Kind: clichain.EventRetry, On: onStderr()},
			{Pattern: `message="stream error".*error\.error="(?P<message>[^"]*)"`, Kind: clichain.EventRetry, On: onStderr(), Reason: clichain.ReasonServerError},
			{Pattern: `Session not found`, Reason: clichain.ReasonBadOption, On: onStderr(), Hint: "the session is gone, or belongs to another directory"},
			{Pattern: `(?s)^\s*opencode run \[message\.\.\].*Options:`, Reason: clichain.ReasonUnsupported, On: onStderr(), Hint: updateHint},
			{Pattern: `(?i)ProviderModelNotFoundError|Model not found`, Reason: clichain.ReasonBadModel},
			{Pattern: `(?i)ProviderAuthError`, Reason: clichain.ReasonUnauthenticated},
			{Pattern: `MessageOutputLengthError|ContextOverflowError`, Reason: clichain.ReasonContextOverflow},
		},
		Hints: map[clichain.Reason]string{
			clichain.ReasonNotInstalled:    "npm install -g opencode-ai",
			clichain.ReasonUnauthenticated: "run `opencode auth login`",
		},
	}
}

func openCodeEvents() []clichain.EventRule {
	return []clichain.EventRule{
		{Match: match("type", "step_start"), Kind: clichain.EventStatus, Set: map[string]string{"session": "sessionID", "text": "=step"}},
		{Match: match("type", "text"), Kind: clichain.EventText, Set: map[string]string{"session": "sessionID", "text": "part.text"}},
		{Match: match("type", "reasoning"), Kind: clichain.EventThinking, Set: map[string]string{"text": "part.text"}},
		// One event tells of a tool's use and of its result.
		{Match: match("type", "tool_use"), Kind: clichain.EventToolUse, Set: map[string]string{"id": "part.callID", "name": "part.tool", "input": "part.state.input"}},
		{Match: match("type", "tool_use"), Kind: clichain.EventToolResult, Set: map[string]string{"id": "part.callID", "text": "part.state.output ?? part.state.error"}},
		{Match: match("type", "step_finish"), Kind: clichain.EventUsage, Set: map[string]string{
			"input_tokens": "part.tokens.input", "output_tokens": "part.tokens.output", "reasoning_tokens": "part.tokens.reasoning",
			"cache_read_tokens": "part.tokens.cache.read", "cache_write_tokens": "part.tokens.cache.write", "turns": "=1",
		}},
		// It says 0 where it knows no price.
		{Match: match("type", "step_finish", "part.cost", ".*[1-9].*"), Kind: clichain.EventUsage, Set: map[string]string{"cost_usd": "part.cost"}},
		{Match: match("type", "step_finish", "part.reason", "stop|length|content-filter|other|unknown"), Kind: clichain.EventResult, Terminal: true, Set: map[string]string{"session": "sessionID"}},
		{Match: match("type", "error"), Kind: clichain.EventError, Set: map[string]string{
			"session": "sessionID", "code": "error.name", "message": "error.data.message ?? error.message", "status": "error.data.statusCode",
			"delay_s": "error.data.responseHeaders.retry-after",
		}},
	}
}
