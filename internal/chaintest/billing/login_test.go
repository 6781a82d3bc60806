package billing_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/doctor"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/clichain/clichain/specs"
)

// diagnosis returns the diagnosis of a built-in backend.
func diagnosis(t *testing.T, name string) doctor.Diagnosis {
	t.Helper()
	spec, ok := specs.ByName(name)
	require.True(t, ok)
	p := clichain.NewProvider(spec, nil)
	d := doctor.Diagnose(t.Context(), []clichain.Backend{p}, nil).Backends[0]
	require.Equal(t, d.Ready(), p.Available(t.Context()) == nil, "the report says what a call does")
	return d
}

const future = 4102444800000 // the year 2100

// Every documented login is found, and a possible login never counts as logged out.
func TestLoginStates(t *testing.T) {
	if chaintest.Keychain {
		t.Skip("with a keychain, nothing is known to be absent")
	}
	oauth := func(expires int64, refresh string) string {
		return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"t","refreshToken":%q,"expiresAt":%d}}`, refresh, expires)
	}
	jwt := "h." + base64.RawURLEncoding.EncodeToString([]byte(`{"exp":4102444800}`)) + ".s"
	const in, out, unknown = clispec.LoginAuthenticated, clispec.LoginInstalled, clispec.LoginUnknown
	plan, key, nobody := call.BillingSubscription, call.BillingAPIKey, call.BillingUnknown
	for _, test := range []struct {
		name, backend string
		env           map[string]string
		files         map[string]string
		want          clispec.LoginState
		evidence      string // end of the evidence
		billing       call.Billing
	}{
		{"claude: nothing", "claude", nil, nil, out, "", nobody},
		{"claude: key", "claude", map[string]string{"ANTHROPIC_API_KEY": "s3cret"}, nil, in, "ANTHROPIC_API_KEY", key},
		{"claude: empty key", "claude", map[string]string{"ANTHROPIC_API_KEY": ""}, nil, out, "", nobody},
		{"claude: gateway token", "claude", map[string]string{"ANTHROPIC_AUTH_TOKEN": "x"}, nil, in, "ANTHROPIC_AUTH_TOKEN", nobody},
		{"claude: plan token", "claude", map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "x"}, nil, in, "CLAUDE_CODE_OAUTH_TOKEN", plan},
		{"claude: cloud switch", "claude", map[string]string{"CLAUDE_CODE_USE_BEDROCK": "1"}, nil, unknown, "CLAUDE_CODE_USE_BEDROCK", key},
		{"claude: cloud switch is off", "claude", map[string]string{"CLAUDE_CODE_USE_BEDROCK": "0"}, nil, out, "", nobody},
		{"claude: cloud", "claude", map[string]string{"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_PROFILE": "p"}, nil, in, "CLAUDE_CODE_USE_BEDROCK", key},
		{"claude: credentials of the cloud alone", "claude", map[string]string{"AWS_PROFILE": "p"}, nil, out, "", nobody},
		{"claude: a cloud to come", "claude", map[string]string{"CLAUDE_CODE_USE_NEBULA": "true"}, nil, unknown, "CLAUDE_CODE_USE_NEBULA", key},
		{"claude: file", "claude", nil, map[string]string{".claude/.credentials.json": oauth(future, "r")}, in, "/.claude/.credentials.json", plan},
		{"claude: file elsewhere", "claude", map[string]string{"CLAUDE_CONFIG_DIR": "$HOME/c"}, map[string]string{"c/.credentials.json": oauth(future, "r")}, in, "/c/.credentials.json", plan},
		{"claude: file where it is not looked for", "claude", map[string]string{"CLAUDE_CONFIG_DIR": "$HOME/c"}, map[string]string{".claude/.credentials.json": oauth(future, "r")}, out, "", nobody},
		{"claude: expired, to be renewed", "claude", nil, map[string]string{".claude/.credentials.json": oauth(1, "r")}, in, ".credentials.json", plan},
		{"claude: expired for good", "claude", nil, map[string]string{".claude/.credentials.json": oauth(1, "")}, unknown, ".credentials.json", plan},
		{"claude: logged out, other credentials are left", "claude", nil, map[string]string{".claude/.credentials.json": `{"mcpOAuth":{}}`}, out, "", nobody},
		{"claude: broken file", "claude", nil, map[string]string{".claude/.credentials.json": `{"claudeAi`}, unknown, ".credentials.json", plan},
		{"claude: key helper", "claude", nil, map[string]string{".claude/settings.json": `{"apiKeyHelper":"/x"}`}, unknown, "/.claude/settings.json", nobody},
		{"claude: key in settings", "claude", nil, map[string]string{".claude/settings.json": `{"env":{"ANTHROPIC_API_KEY":"x"}}`}, unknown, "/.claude/settings.json", nobody},
		{"claude: other settings", "claude", nil, map[string]string{".claude/settings.json": `{"env":{"ANTHROPIC_MODEL":"x"},"theme":"dark"}`}, out, "", nobody},
		{"claude: key helper beside a plan", "claude", nil, map[string]string{".claude/settings.json": `{"apiKeyHelper":"/x"}`, ".claude/.credentials.json": oauth(future, "r")}, in, ".credentials.json", nobody},
		{"claude: key beside a plan", "claude", map[string]string{"ANTHROPIC_API_KEY": "x"}, map[string]string{".claude/.credentials.json": oauth(future, "r")}, in, "ANTHROPIC_API_KEY", key},
		{"claude: managed key", "claude", nil, map[string]string{".claude.json": `{"primaryApiKey":"x"}`}, in, "/.claude.json", key},

		{"codex: nothing", "codex", nil, nil, out, "", nobody},
		{"codex: key", "codex", map[string]string{"CODEX_API_KEY": "x"}, nil, in, "CODEX_API_KEY", key},
		{"codex: a key it may not take", "codex", map[string]string{"OPENAI_API_KEY": "x"}, nil, unknown, "OPENAI_API_KEY", nobody},
		{"codex: key file", "codex", nil, map[string]string{".codex/auth.json": `{"OPENAI_API_KEY":"x"}`}, in, "/.codex/auth.json", key},
		{"codex: plan", "codex", nil, map[string]string{".codex/auth.json": `{"OPENAI_API_KEY":null,"tokens":{"access_token":"` + jwt + `","refresh_token":"r"}}`}, in, "/.codex/auth.json", plan},
		{"codex: plan elsewhere", "codex", map[string]string{"CODEX_HOME": "$HOME/c"}, map[string]string{"c/auth.json": `{"tokens":{"access_token":"` + jwt + `"}}`}, in, "/c/auth.json", plan},
		{"codex: logged out, file is left", "codex", nil, map[string]string{".codex/auth.json": `{"OPENAI_API_KEY":null,"tokens":null}`, ".codex/version.json": `{}`}, out, "", nobody},
		{"codex: broken file", "codex", nil, map[string]string{".codex/auth.json": `{`}, unknown, "/.codex/auth.json", nobody},
		{"codex: a provider of its own", "codex", nil, map[string]string{".codex/config.toml": "model_provider = \"local\"\n"}, unknown, "/.codex/config.toml", nobody},
		{"codex: other settings", "codex", nil, map[string]string{".codex/config.toml": "model = \"gpt-5.5\"\n"}, out, "", nobody},
		{"codex: keyring", "codex", nil, map[string]string{".codex/config.toml": "cli_auth_credentials_store = \"keyring\"\n"}, unknown, "/.codex/config.toml", nobody},

		{"gemini: nothing", "gemini", nil, nil, out, "", nobody},
		{"gemini: key", "gemini", map[string]string{"GEMINI_API_KEY": "x"}, nil, in, "GEMINI_API_KEY", key},
		{"gemini: key selected", "gemini", map[string]string{"GEMINI_API_KEY": "x"}, map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`}, in, "/.gemini/settings.json", key},
		{"gemini: key selected and not there", "gemini", nil, map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`}, unknown, "/.gemini/settings.json", nobody},
		{"gemini: plan", "gemini", nil, map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"oauth-personal"}}}`, ".gemini/oauth_creds.json": `{"refresh_token":"r","expiry_date":1}`}, unknown, "/.gemini/oauth_creds.json", plan},
		{"gemini: cloud", "gemini", map[string]string{"GOOGLE_GENAI_USE_VERTEXAI": "true"}, nil, unknown, "GOOGLE_GENAI_USE_VERTEXAI", nobody},
		{"gemini: key in a file", "gemini", nil, map[string]string{".gemini/.env": "GEMINI_API_KEY=x\n"}, unknown, "/.gemini/.env", nobody},
		{"gemini: another file of that name", "gemini", nil, map[string]string{".env": "OTHER=x\n"}, out, "", nobody},

		{"opencode: nothing is needed", "opencode", nil, nil, unknown, "nothing that can be seen", nobody},
		{"opencode: file", "opencode", nil, map[string]string{".local/share/opencode/auth.json": `{"openai":{"type":"oauth"}}`}, in, "/opencode/auth.json", nobody},
		{"opencode: provider", "opencode", nil, map[string]string{".config/opencode/opencode.json": `{"provider":{"x":{}}}`}, unknown, "/opencode.json", nobody},
		{"qwen: nothing", "qwen", nil, nil, out, "", nobody},
		{"qwen: three variables", "qwen", map[string]string{"OPENAI_API_KEY": "s3cret", "OPENAI_MODEL": "m", "OPENAI_BASE_URL": "u"}, nil, in, "OPENAI_MODEL", key},
		{"qwen: a key without a model", "qwen", map[string]string{"OPENAI_API_KEY": "x"}, nil, unknown, "OPENAI_API_KEY", nobody},
		{"qwen: key in the settings", "qwen", nil, map[string]string{".qwen/settings.json": `{"security":{"auth":{"selectedType":"openai","apiKey":"s3cret"}}}`}, in, "/.qwen/settings.json", key},
		{"qwen: provider in the settings", "qwen", nil, map[string]string{".qwen/settings.json": `{"modelProviders":{"openai":[]},"security":{"auth":{"selectedType":"openai"}}}`}, unknown, "/.qwen/settings.json", nobody},
		{"qwen: settings elsewhere", "qwen", map[string]string{"QWEN_HOME": "$HOME/q"}, map[string]string{"q/settings.json": `{"security":{"auth":{"selectedType":"openai","apiKey":"x"}}}`}, in, "/q/settings.json", key},
		{"qwen: other settings", "qwen", nil, map[string]string{".qwen/settings.json": `{"ui":{"theme":"x"},"$version":4}`}, out, "", nobody},
		{"qwen: key in a file", "qwen", nil, map[string]string{".qwen/.env": "DASHSCOPE_API_KEY=x\n"}, unknown, "/.qwen/.env", nobody},
		{"qwen: an account", "qwen", nil, map[string]string{".qwen/settings.json": `{"security":{"auth":{"selectedType":"qwen-oauth"}}}`, ".qwen/oauth_creds.json": `{"access_token":"a","refresh_token":"r","expiry_date":1}`}, unknown, "/.qwen/oauth_creds.json", plan},
		{"agy: nobody knows", "agy", nil, nil, unknown, "nothing that can be seen", nobody},
		{"agy: perhaps a key", "agy", map[string]string{"GEMINI_API_KEY": "x"}, nil, unknown, "GEMINI_API_KEY", nobody},
		{"agy: gemini's files say nothing of it", "agy", nil, map[string]string{".gemini/oauth_creds.json": `{"refresh_token":"r"}`}, unknown, "nothing that can be seen", nobody},
		{"cursor: nobody knows", "cursor-agent", nil, nil, unknown, "nothing that can be seen", nobody},
		{"cursor: key", "cursor-agent", map[string]string{"CURSOR_API_KEY": "x"}, nil, in, "CURSOR_API_KEY", nobody},
	} {
		t.Run(test.name, func(t *testing.T) {
			home, _ := chaintest.FreshMachine(t, chaintest.Play())
			for name, value := range test.env {
				t.Setenv(name, strings.ReplaceAll(value, "$HOME", home))
			}
			for path, content := range test.files {
				chaintest.Write(t, home, path, content)
			}
			d := diagnosis(t, test.backend)
			require.Equal(t, test.want, d.Login)
			require.Equal(t, test.want != out, d.Ready(), "in doubt it is tried")
			require.True(t, strings.HasSuffix(d.Evidence, test.evidence), d.Evidence)
			require.Equal(t, test.evidence == "", d.Evidence == "")
			require.Equal(t, test.billing, d.Billing)
			require.NotContains(t, fmt.Sprintf("%+v", d), "s3cret")
		})
	}
}

// A backend that is known to be logged out is skipped without a start, with a hint.
func TestLoggedOutIsSkipped(t *testing.T) {
	if chaintest.Keychain {
		t.Skip("with a keychain, nothing is known to be absent")
	}
	record := filepath.Join(t.TempDir(), "started")
	home, _ := chaintest.FreshMachine(t, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(chaintest.CodexAnswer("hello"))))
	c := clichain.NewChain([]clichain.CliSpec{specs.Codex()}, nil)
	_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	ce := err.(*clichain.ChainError)
	require.True(t, ce.Attempts[0].Skipped)
	be := chaintest.RequireReason(t, clichain.ReasonUnauthenticated, err)
	require.Equal(t, "run `codex login`", be.Hint)
	require.NoFileExists(t, record)
	req := clichain.Prompt("hi")
	req.Options.Extra = map[string][]string{"codex": {"--profile", "local"}}
	_, err = c.Complete(t.Context(), req)
	require.NoError(t, err, "who knows what they bring")
	require.NoError(t, os.Remove(record))
	require.ErrorIs(t, c.Ready(t.Context()), clichain.ErrUnauthenticated)

	chaintest.Write(t, home, ".codex/auth.json", `{"OPENAI_API_KEY":"x"}`)
	require.NoError(t, c.Ready(t.Context()), "seen at once")
	resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, call.BillingAPIKey, resp.Billing)
}

// A program that may have its own login is tried without a visible one.
func TestLoginOfAWrapper(t *testing.T) {
	home, bin := chaintest.FreshMachine(t, chaintest.Play())
	require.NoError(t, os.Remove(filepath.Join(bin, "codex")))
	script := chaintest.Write(t, bin, "codex", "#!/usr/bin/env bash\nexec codex-real\n")
	require.NoError(t, os.Chmod(script, 0o700))
	require.Equal(t, clispec.LoginUnknown, diagnosis(t, "codex").Login)

	chaintest.Write(t, bin, "codex", "#!/usr/bin/env node\n")
	if !chaintest.Keychain {
		require.Equal(t, clispec.LoginInstalled, diagnosis(t, "codex").Login)
	}
	named := clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: "codex"})
	require.NoError(t, named.Available(t.Context()))
	require.NoError(t, clichain.NewProvider(specs.Codex(), &clichain.Config{Env: []string{"CODEX_API_KEY=x"}}).Available(t.Context()), "the caller's own")
	require.NoError(t, clichain.NewProvider(specs.Codex(), &clichain.Config{Env: []string{"CODEX_HOME=" + home}, Binary: script}).Available(t.Context()))
}

// An unreadable file may be a login.
func TestLoginThatCannotBeSeen(t *testing.T) {
	t.Run("pipe", func(t *testing.T) {
		home, _ := chaintest.FreshMachine(t, chaintest.Play())
		require.NoError(t, os.MkdirAll(filepath.Join(home, ".codex", "auth.json"), 0o700))
		require.Equal(t, clispec.LoginUnknown, diagnosis(t, "codex").Login, "a folder in its place")
	})
	t.Run("too long", func(t *testing.T) {
		home, _ := chaintest.FreshMachine(t, chaintest.Play())
		chaintest.Write(t, home, ".codex/auth.json", `{"x":"`+strings.Repeat("x", 2<<20)+`"}`)
		require.Equal(t, clispec.LoginUnknown, diagnosis(t, "codex").Login)
	})
	t.Run("spec without login rules", func(t *testing.T) {
		_, bin := chaintest.FreshMachine(t, chaintest.Play())
		_, err := clitest.Install(bin, "mini", chaintest.Play())
		require.NoError(t, err)
		p := clichain.NewProvider(clichain.CliSpec{Name: "mini", Binary: "mini"}, nil)
		d := doctor.Diagnose(t.Context(), []clichain.Backend{p}, nil).Backends[0]
		require.Equal(t, clispec.LoginUnknown, d.Login)
		require.True(t, d.Ready())
	})
	t.Run("in a parent directory", func(t *testing.T) {
		chaintest.FreshMachine(t, chaintest.Play())
		dir := t.TempDir()
		chaintest.Write(t, dir, ".env", "export GEMINI_API_KEY=x\n")
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
		t.Chdir(filepath.Join(dir, "a", "b"))
		require.Equal(t, clispec.LoginUnknown, diagnosis(t, "gemini").Login)
	})
}

// The login check of a call takes microseconds.
func TestLoginIsRemembered(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, chaintest.Play())
	file := chaintest.Write(t, home, ".codex/auth.json", `{"OPENAI_API_KEY":"x"}`)
	p := clichain.NewProvider(specs.Codex(), nil)
	require.NoError(t, p.Available(t.Context()))
	require.NoError(t, os.Remove(file))
	require.NoError(t, p.Available(t.Context()), "for a moment")
	t.Setenv("CODEX_HOME", home)
	if !chaintest.Keychain {
		require.ErrorIs(t, p.Available(t.Context()), clichain.ErrUnauthenticated, "another environment is another question")
	}
	best := time.Hour
	t.Setenv("CODEX_API_KEY", "x")
	for tries := 0; tries < 2000 && best >= 500*time.Microsecond; tries++ { // on a busy machine the best time counts
		start := time.Now()
		err := p.Available(t.Context())
		best = min(best, time.Since(start))
		require.NoError(t, err)
	}
	testtime.Took(t, best, 500*time.Microsecond)
}
