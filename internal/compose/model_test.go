package compose

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

func TestModels(t *testing.T) {
	mine := clispec.Spec{
		Name: "mine", Binary: "mine", ProviderSlug: "mine-cli", DefaultModel: "mine-default",
		Models: clispec.ModelRules{Accept: []string{"m-.*"}, Aliases: map[string]string{
			"big": "m-big-20260101", "mine-only": "mine/m-2", "theirs": "claude/opus", "odd": "not-mine",
		}},
	}
	open := clispec.Spec{Name: "open", Binary: "open"}
	used, wrong := mine, mine
	used.UseModel, wrong.UseModel = " big ", "gpt-5"
	for _, test := range []struct {
		name  string
		spec  clispec.Spec
		model string
		want  string
		ok    bool
	}{
		{"empty", mine, "", "", true},
		{"default", mine, "default", "", true},
		{"unknown", mine, "unknown", "", true},
		{"the spec's default", mine, "mine-default", "", true},
		{"blanks around", mine, "  m-1 ", "m-1", true},
		{"only blanks", mine, " \t", "", true},
		{"accepted", mine, "m-1", "m-1", true},
		{"alias", mine, "big", "m-big-20260101", true},
		{"an alias for a model of this backend", mine, "mine-only", "m-2", true},
		{"an alias for a model of another backend", mine, "theirs", "", false},
		{"an alias for any name", mine, "odd", "not-mine", true},
		{"name as the model", mine, "mine", "", true},
		{"slug as the model", mine, "mine-cli", "", true},
		{"name/model", mine, "mine/m-1", "m-1", true},
		{"slug/model", mine, "mine-cli/m-1", "m-1", true},
		{"name/alias", mine, "mine/big", "m-big-20260101", true},
		{"name/default", mine, "mine/default", "", true},
		{"name/the spec's default", mine, "mine/mine-default", "", true},
		{"name/nothing", mine, "mine/", "", false},
		{"name/foreign", mine, "mine/gpt-5", "", false},
		{"foreign", mine, "gpt-5", "", false},
		{"foreign default", mine, "claude-desktop", "", false},
		{"another backend's", mine, "claude/m-1", "", false},
		{"spec without rules accepts any model", open, "whatever/it is", "whatever/it is", true},

		{"use_model for no model", used, "", "m-big-20260101", true},
		{"use_model for the backend", used, "mine", "m-big-20260101", true},
		{"use_model for the slug", used, "mine-cli", "m-big-20260101", true},
		{"a model instead of use_model", used, "m-1", "m-1", true},
		{"default instead of use_model", used, "default", "", true},
		{"name/default instead of use_model", used, "mine/default", "", true},
		{"foreign use_model", wrong, "", "", false},
		{"a model instead of a foreign use_model", wrong, "m-1", "m-1", true},

		{"claude alias of its own", specs.Claude(), "sonnet", "sonnet", true},
		{"claude long context", specs.Claude(), "opus[1m]", "opus[1m]", true},
		{"claude dated", specs.Claude(), "claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929", true},
		{"claude on bedrock", specs.Claude(), "arn:aws:bedrock:x", "arn:aws:bedrock:x", true},
		{"claude default", specs.Claude(), "claude-desktop", "", true},
		{"claude slug", specs.Claude(), "anthropic-cli", "", true},
		{"claude/opus", specs.Claude(), "claude/opus", "opus", true},
		{"claude in a region", specs.Claude(), "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", true},
		{"claude through a gateway", specs.Claude(), "anthropic/claude-opus-4.1", "anthropic/claude-opus-4.1", true},
		{"claude on vertex", specs.Claude(), "claude-opus-4-1@20250805", "claude-opus-4-1@20250805", true},
		{"claude/gpt", specs.Claude(), "claude/gpt-5", "", false},
		{"anthropic-cli/gpt", specs.Claude(), "anthropic-cli/gpt-5", "", false},
		{"name that contains a model name", specs.Claude(), "not-claude-at-all", "", false},
		{"gemini family alias", specs.Gemini(), "auto-gemini-3", "auto-gemini-3", true},
		{"claude on a government cloud", specs.Claude(), "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", true},
		{"gemini/gpt", specs.Gemini(), "gemini/gpt-5", "", false},
		{"google-cli/opus", specs.Gemini(), "google-cli/opus", "", false},
		{"gemini through a service", specs.Gemini(), "models/gemini-2.5-pro", "models/gemini-2.5-pro", true},
		{"codex/opus", specs.Codex(), "codex/opus", "", false},
		{"openai-cli/gemini", specs.Codex(), "openai-cli/gemini-2.5-pro", "", false},
		{"cursor-agent/flash", specs.Cursor(), "cursor-agent/flash", "", false},
		{"claude refuses gpt", specs.Claude(), "gpt-5", "", false},
		{"claude refuses gemini", specs.Claude(), "gemini-2.5-pro", "", false},
		{"gemini flash", specs.Gemini(), "flash", "flash", true},
		{"gemini refuses claude", specs.Gemini(), "opus", "", false},
		{"codex gpt", specs.Codex(), "gpt-5-codex", "gpt-5-codex", true},
		{"codex mini", specs.Codex(), "codex-mini-latest", "codex-mini-latest", true},
		{"codex o3", specs.Codex(), "o3", "o3", true},
		{"codex refuses opus", specs.Codex(), "opus", "", false},
		{"cursor auto", specs.Cursor(), "auto", "auto", true},
		{"cursor refuses o3", specs.Cursor(), "o3", "", false},
		{"opencode provider/model", specs.OpenCode(), "openai/gpt-5", "openai/gpt-5", true},
		{"opencode's own zen models", specs.OpenCode(), "opencode/gpt-5", "opencode/gpt-5", true},
		{"opencode/provider/model", specs.OpenCode(), "opencode/openai/gpt-5", "openai/gpt-5", true},
		{"opencode bare", specs.OpenCode(), "gpt-5", "", false},
		{"opencode name", specs.OpenCode(), "opencode", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := composerOf(t, test.spec).Models.Resolve(test.model)
			require.Equal(t, test.ok, ok)
			if ok {
				require.Equal(t, test.want, got)
			}
			req := call.Prompt("P")
			req.Model = test.model
			inv, err := composerOf(t, test.spec).Compose(req, Choice{}, testHost())
			if !test.ok {
				require.ErrorIs(t, err, call.ErrModelMismatch)
				require.Equal(t, "model", err.Option)
				return
			}
			require.Nil(t, err)
			require.Equal(t, test.want, modelArgument(inv.Args))
		})
	}
}

// modelArgument returns the argument after the model flag.
func modelArgument(args []string) string {
	for i, arg := range args {
		if arg == "--model" || arg == "-m" {
			return args[i+1]
		}
	}
	return ""
}

func TestModelWithLeadingDash(t *testing.T) {
	req := call.Prompt("P")
	req.Model = "--claude"
	spec := specs.Claude()
	spec.Models.Accept = nil // otherwise the model is refused earlier
	_, err := composerOf(t, spec).Compose(req, Choice{}, testHost())
	require.ErrorIs(t, err, call.ErrUnsupported)
	require.Equal(t, "model", err.Option)
}

func TestClaims(t *testing.T) {
	for _, test := range []struct {
		name, model string
		want        bool
	}{
		{"nothing", "", false},
		{"default model name", "default", false},
		{"name", "claude", true},
		{"slug", "anthropic-cli", true},
		{"default model", "claude-desktop", true},
		{"name/model", "claude/opus", true},
		{"slug/model", "anthropic-cli/opus", true},
		{"blanks", " claude ", true},
		{"accepted model name", "opus", false},
		{"another's", "codex/gpt-5", false},
		{"name/nothing", "claude/", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, composerOf(t, specs.Claude()).Models.Claims(test.model))
		})
	}
}
