package compose

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// The variables of a request that the configuration lists reach each CLI. Values of the operator override them.
func TestRequestEnvListed(t *testing.T) {
	h := testHost()
	h.Env = append(h.Env, "JOB_ID=of the config", "OTHER=kept")
	h.RequestEnv = []string{"JOB_ID", "chat_*", "EMPTY", "TERM"}
	req := call.Prompt("hi")
	req.Env = map[string]string{"JOB_ID": "7", "chat_2": "a=b c", "EMPTY": "", "TERM": "xterm"}
	require.Nil(t, Check(req))
	for _, spec := range specs.Every() {
		inv, err := composerOf(t, spec).Compose(req, Choice{}, h)
		require.Nil(t, err)
		require.Subset(t, inv.Env, []string{"JOB_ID=of the config", "chat_2=a=b c", "EMPTY=", "OTHER=kept", "TERM=dumb"})
		require.NotContains(t, inv.Env, "JOB_ID=7")
	}
}

// A variable that the configuration does not list is refused with its name. With each of these variables, a person
// could control a CLI, a shell, a loader or a tool of an agent.
func TestEnvIsAnAllowList(t *testing.T) {
	var composers []*Composer
	for _, spec := range specs.Every() {
		composers = append(composers, composerOf(t, spec))
	}
	for _, name := range []string{
		"JOB", "APPX", "APP", "PATH", "HOME", "BASH_ENV", "LD_PRELOAD", "NODE_OPTIONS", "GIT_SSH_COMMAND", "ANTHROPIC_BASE_URL",
		"NAPI_RS_NATIVE_LIBRARY_PATH", "DISPLAY", "SANDBOX", "OTEL_EXPORTER_OTLP_ENDPOINT", "BETA_TRACING_ENDPOINT", "ZDOTDIR",
		"SHELLOPTS", "BASHOPTS", "LESSOPEN", "KUBECONFIG", "SUDO_ASKPASS", "DOCKER_HOST", "SEATBELT_PROFILE", "DEBUG",
	} {
		h := testHost()
		req := call.Prompt("hi")
		req.Env = map[string]string{name: "x", "APP_ID": "7"}
		for _, list := range [][]string{nil, {"APP_*"}} {
			h.RequestEnv = list
			for _, composer := range composers {
				_, err := composer.Compose(req, Choice{}, h)
				require.ErrorIs(t, err, call.ErrUnsupported, name)
				if list != nil {
					require.Equal(t, "env."+name, err.Option)
				}
			}
		}
	}
}

func TestRequestEnvRefused(t *testing.T) {
	for _, name := range []string{"", "A B", "A=B", "1A", "A-B", "ä", "A\x00", "BASH_FUNC_x%%", "CLICHAIN_CALL", "clichain_call"} {
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

// A variable may choose the account or the service if its name begins like one that the spec names.
func TestObeys(t *testing.T) {
	for _, test := range []struct {
		spec clispec.Spec
		name string
		want bool
	}{
		{clispec.Spec{Name: "mini", SetEnv: map[string]string{"MINE_HOME": "~/mine"}}, "MINE_KEY", true},
		{specs.Claude(), "ANTHROPIC_BASE_URL", true},
		{specs.Claude(), "CLAUDE_CODE_USE_BEDROCK", true},
		{specs.Claude(), "aws_profile", true},
		{specs.Claude(), "OPENAI_API_KEY", false},
		{specs.Codex(), "OPENAI_API_KEY", true},
		{specs.Gemini(), "GOOGLE_GEMINI_BASE_URL", true},
		{specs.Cursor(), "CHAT_ID", false},
		{clispec.Spec{Name: "mini"}, "MINI_HOME", false},
		{clispec.Spec{Name: "mini", Env: []clispec.EnvRow{{Name: "MINI_QUIET", Value: "1"}}}, "MINI_HOME", true},
		{clispec.Spec{Name: "mini", Login: clispec.LoginRules{Ways: []clispec.LoginWay{{Env: []string{"MINI_KEY"}}}}}, "MINI_KEY", true},
	} {
		want := ""
		if test.want {
			want = test.name
		}
		require.Equal(t, want, Obeys(&test.spec, map[string]string{test.name: "x", "A": ""}), test.name)
	}
	require.Empty(t, Obeys(&clispec.Spec{}, nil))
}
