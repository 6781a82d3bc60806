package main

import (
	"strings"

	"github.com/clichain/clichain"
	"github.com/spf13/cobra"
)

// optionFlags are the flags whose names do not tell the field of a request that they set.
var optionFlags = map[string]string{
	"allowed_tools": "allow-tool", "disallowed_tools": "deny-tool", "add_dirs": "add-dir", "images": "image",
	"no_session_persistence": "no-session",
}

// prompt is what the command line calls the messages of a request.
const prompt = "PROMPT"

// flagOf is a field of a request or of a setting, such as "options.add_dirs[0]", as the command line has it. What it
// has no flag for stays as it is.
func flagOf(field string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(field, "options."), "config.")
	name, element, _ := strings.Cut(name, ".")
	name, _, _ = strings.Cut(name, "[")
	element, _, _ = strings.Cut(element, "[")
	if name == "messages" {
		return prompt
	}
	flag, renamed := optionFlags[name]
	if !renamed {
		flag = strings.ReplaceAll(name, "_", "-")
	}
	ask := &cobra.Command{}
	new(askFlags).register(ask)
	if ask.Flags().Lookup(flag) == nil {
		return field
	}
	return strings.TrimSpace("--" + flag + " " + element)
}

// inFlags says in the words of the command line what the library says in those of Go.
var inFlags = strings.NewReplacer(
	"set Config.TrustDir (--trust-dir)", "use --trust-dir",
	"Config.PassEnv or --pass-env", "--pass-env",
	"add the name to Config.RequestEnv, or set the variable with Config.Env", "let the worker --permit env=NAME",
	"let Config.Sandbox be SandboxOff to try all the same", "--sandbox off tries all the same",
	"Config.Sandbox", "--sandbox",
	"leave Config.Billing empty", "use --billing any",
	"Config.Billing", "--billing",
	"Options.MCPConfig", "--mcp-config",
	"continue it with AccessNone", "continue it without --access",
	"set Dir, with AccessRead (or more)", "set --dir, with --access read (or more)",
	"let Access be AccessRead (or more)", "use --access read (or more)",
	"leave Dir empty", "leave --dir out",
	"set one of session, options.continue and options.session_id", "give one of --session, --continue and --session-id",
)

// told is a failure in the words of the command line.
func told(err error) error {
	switch err := err.(type) {
	case *clichain.BackendError:
		be := *err
		be.Option, be.Message, be.Hint = flagOf(be.Option), inFlags.Replace(be.Message), inFlags.Replace(be.Hint)
		return &be
	case *clichain.ChainError:
		chain := &clichain.ChainError{Cause: told(err.Cause), Note: err.Note}
		for _, a := range err.Attempts {
			a.Err = told(a.Err)
			chain.Attempts = append(chain.Attempts, a)
		}
		return chain
	}
	return err
}
