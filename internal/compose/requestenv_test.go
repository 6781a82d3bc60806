package compose

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// The variables of a request reach the CLI, and win over Config.Env.
func TestEnvOfARequest(t *testing.T) {
	h := testHost()
	h.Env = append(h.Env, "JOB_ID=of the config", "OTHER=kept")
	req := call.Prompt("hi")
	req.Env = map[string]string{"JOB_ID": "7", "chat_2": "a=b c", "EMPTY": ""}
	require.Nil(t, Check(req))
	for _, spec := range specs.Every() {
		inv, err := composerOf(t, spec).Compose(req, Choice{}, h)
		require.Nil(t, err)
		require.Subset(t, inv.Env, []string{"JOB_ID=7", "chat_2=a=b c", "EMPTY=", "OTHER=kept"})
		require.NotContains(t, inv.Env, "JOB_ID=of the config")
	}
}

// A request may come from anywhere, so it sets nothing that the system obeys.
func TestEnvThatTheSystemObeys(t *testing.T) {
	for _, name := range []string{
		"", "A B", "A=B", "1A", "A-B", "ä", "A\x00", "PATH", "HOME", "SHELL", "TMPDIR", "XDG_CONFIG_HOME", "https_proxy", "LC_ALL", "TERM",
		"BASH_ENV", "ENV", "BASH_FUNC_x%%", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "BUN_OPTIONS", "PYTHONPATH",
		"GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "PERL5OPT", "CLICHAIN_CALL", "SYSTEMROOT", "npm_config_registry", "PWD",
	} {
		req := call.Prompt("hi")
		req.Env = map[string]string{name: "x"}
		err := Check(req)
		require.NotNil(t, err, name)
		require.Equal(t, call.ReasonBadOption, err.Reason)
		require.Contains(t, err.Option, "env")
	}
	req := call.Prompt("hi")
	req.Env = map[string]string{"JOB": "a\x00b"}
	require.Equal(t, "env.JOB", Check(req).Option)
}

// Nor what the CLI obeys, whether its spec names the variable or only others of its kind.
func TestEnvThatTheCLIObeys(t *testing.T) {
	for _, test := range []struct {
		spec clispec.Spec
		name string
		want bool
	}{
		{clispec.Spec{Name: "mini", Binary: "mini", SetEnv: map[string]string{"MINE_HOME": "~/mine"}}, "MINE_KEY", false},
		{specs.Claude(), "ANTHROPIC_BASE_URL", false},
		{specs.Claude(), "CLAUDE_CODE_SHELL_PREFIX", false},
		{specs.Claude(), "CLAUDECODE", false},
		{specs.Claude(), "aws_profile", false},
		{specs.Claude(), "OPENAI_API_KEY", true},
		{specs.Codex(), "OPENAI_API_KEY", false},
		{specs.Codex(), "CODEX_HOME", false},
		{specs.Gemini(), "GEMINI_SYSTEM_MD", false},
		{specs.Gemini(), "GOOGLE_GEMINI_BASE_URL", false},
		{specs.OpenCode(), "OPENCODE_CONFIG", false},
		{specs.Cursor(), "CURSOR_API_KEY", false},
		{specs.Cursor(), "CHAT_ID", true},
		{clispec.Spec{Name: "mini", Binary: "mini"}, "MINI_HOME", true},
		{clispec.Spec{Name: "mini", Binary: "mini", Env: []clispec.EnvRow{{Name: "MINI_QUIET", Value: "1"}}}, "MINI_HOME", false},
		{clispec.Spec{Name: "mini", Binary: "mini", Login: clispec.LoginRules{Ways: []clispec.LoginWay{{Env: []string{"MINI_KEY"}}}}}, "MINI_KEY", false},
	} {
		req := call.Prompt("hi")
		req.Env = map[string]string{test.name: "x"}
		_, err := composerOf(t, test.spec).Compose(req, Choice{}, testHost())
		if test.want {
			require.Nil(t, err, test.name)
			continue
		}
		require.ErrorIs(t, err, call.ErrUnsupported, test.name)
		require.Equal(t, "env."+test.name, err.Option)
	}
}
