//go:build unix

package billing_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

const geminiPlan = `{"security":{"auth":{"selectedType":"oauth-personal"}}}`

// fifo stands for a file that blocks its reader.
const fifo = "\x00fifo"

// With a plan and BillingSubscription, every sign of another account that a CLI would read keeps the call from
// starting, in any notation. Other content does not.
func TestBillingTricks(t *testing.T) {
	const claude, codex, gemini = "claude", "codex", "gemini"
	const read = clichain.AccessRead
	const settings, config, dotenv = ".claude/settings.json", ".codex/config.toml", ".gemini/.env"
	for _, test := range []struct {
		name, backend, file, content string
		starts                       bool
		access                       clichain.Access
	}{
		{"nothing", claude, settings, `{"model":"opus","env":{"EDITOR":"vi"}}`, true, 0},
		{"the name in a value", claude, settings, `{"env":{"NOTE":"\"ANTHROPIC_API_KEY\""}}`, true, 0},
		{"a helper", claude, settings, `{"apiKeyHelper":"x"}`, false, 0},
		{"a cloud, escaped", claude, settings, `{"env":{"\u0043LAUDE_CODE_USE_BEDROCK":"1"}}`, false, 0},
		{"a helper, escaped", claude, settings, `{"api\u004beyHelper":"x"}`, false, 0},
		{"every letter escaped", claude, settings, `{"env":{"` + escapedName("ANTHROPIC_API_KEY") + `":"x"}}`, false, 0},
		{"a name twice", claude, settings, `{"env":{},"env":{"\u0041NTHROPIC_API_KEY":"x"}}`, false, 0},
		{"a name twice, the first", claude, settings, `{"env":{"\u0041NTHROPIC_API_KEY":"x"},"env":{}}`, false, 0},
		{"deep inside", claude, settings, `{"a":[{"b":{"env":{"ANTHROPIC_AUTH_\u0054OKEN":"x"}}}]}`, false, 0},
		{"too deep", claude, settings, strings.Repeat(`[`, 500) + strings.Repeat(`]`, 500), false, 0},
		{"another case", claude, settings, `{"env":{"anthropic_api_key":"x"}}`, false, 0},
		{"byte order mark", claude, settings, "\ufeff" + `{"env":{"\u0041NTHROPIC_API_KEY":"x"}}`, false, 0},
		{"comments", claude, settings, "// me\n" + `{"env":{"\u0041NTHROPIC_API_KEY":"x"}}`, false, 0},
		{"broken", claude, settings, `{"env":{"EDITOR":"vi"}`, false, 0},
		{"huge", claude, settings, `{"note":"` + strings.Repeat("x", 2<<20) + `"}`, false, 0},
		{"fifo", claude, settings, fifo, false, 0},
		{"of the folder, where it is not read", claude, "work/.claude/settings.local.json", `{"env":{"\u0041NTHROPIC_API_KEY":"x"}}`, true, 0},
		{"of the folder", claude, "work/.claude/settings.local.json", `{"env":{"\u0041NTHROPIC_API_KEY":"x"}}`, false, read},
		{"of the company", claude, ".claude/remote-settings.json", `{"env":{"\u0041NTHROPIC_API_KEY":"x"}}`, false, 0},
		{"another place for the login", claude, settings, `{"env":{"CLAUDE_CONFIG_DIR":"x"}}`, false, 0},
		{"a kept key, twice", claude, ".claude.json", `{"primaryApiKey":null,"primaryApiKey":"x"}`, true, 0}, // the plan wins

		{"nothing", codex, config, "# model_provider = 'x'\nmodel = \"o\"\n[projects.\"/home/me/profile\"]\ntrust_level = \"trusted\"\n", true, 0},
		{"a Windows path", codex, config, `[projects."C:\\users\\me"]` + "\n", true, 0},
		{"a provider", codex, config, "model_provider = 'x'\n", false, 0},
		{"a provider, escaped", codex, config, `"model\u005fprovider" = 'x'` + "\n", false, 0},
		{"a provider, escaped in a path", codex, config, `"C:\\"."\x6dodel_provider" = 'x'` + "\n", false, 0},
		{"a provider, quoted", codex, config, "'model_provider' = 'x'\n", false, 0},
		{"a provider, dotted", codex, config, "a . \"model_providers\" . x.base_url = 'x'\n", false, 0},
		{"a provider, inline", codex, config, "a = { b = 1, model_provider = 'x' }\n", false, 0},
		{"a profile, as a table", codex, config, "model = 'o'\r\n[ profiles . a ]\r\n", false, 0},
		{"byte order mark", codex, config, "\ufeffprofile = 'x'\n", false, 0},
		{"a key beside the tokens", codex, ".codex/auth.json", `{"OPENAI_API_KEY":"x","tokens":{"access_token":"x","refresh_token":"x"}}`, false, 0},
		{"a key, and the plan is chosen", codex, ".codex/auth.json",
			`{"auth_mode":"chatgpt","OPENAI_API_KEY":"x","tokens":{"access_token":"x","refresh_token":"x"}}`, true, 0},

		{"nothing", gemini, dotenv, "# GEMINI_API_KEY=x\nEDITOR=vi\n", true, 0},
		{"another choice", gemini, ".gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`, false, 0},
		{"another choice, after it", gemini, ".gemini/settings.json",
			`{"security":{"auth":{"selectedType":"oauth-personal","selectedType":"gemini-api-key"}}}`, false, 0},
		{"another choice of the folder", gemini, "work/.gemini/settings.json", `{"security":{"auth":{"selected\u0054ype":"gemini-api-key"}}}`, false, read},
		{"another choice of the system", gemini, "system.json", `{"security":{"auth":{"selected\u0054ype":"gemini-api-key"}}}`, false, 0},
	} {
		t.Run(test.backend+": "+test.name, func(t *testing.T) {
			plan := plans[test.backend]
			record := filepath.Join(t.TempDir(), "record")
			scenario := chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(plan.answer))
			home, _ := chaintest.FreshMachine(t, scenario)
			t.Setenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH", filepath.Join(home, "system.json"))
			chaintest.Write(t, home, ".gemini/settings.json", geminiPlan)
			chaintest.Write(t, home, plan.path, plan.content)
			if file := chaintest.Write(t, home, test.file, test.content); test.content == fifo {
				require.NoError(t, os.Remove(file))
				require.NoError(t, syscall.Mkfifo(file, 0o600))
			}
			require.NoError(t, os.MkdirAll(filepath.Join(home, "work"), 0o700))
			t.Chdir(filepath.Join(home, "work"))
			spec, _ := specs.ByName(test.backend)
			spec.Login.Status = clispec.StatusRule{} // the status command would settle it
			req := clichain.Prompt("hi")
			req.Access = test.access
			resp, err := clichain.NewProvider(spec, &clichain.Config{Billing: call.BillingSubscription}).Complete(t.Context(), req)
			if test.starts {
				require.NoError(t, err)
				require.Equal(t, call.BillingSubscription, resp.Billing)
				return
			}
			chaintest.RequireReason(t, clichain.ReasonBilling, err)
			require.NoFileExists(t, record, "it was started")
		})
	}
}

// escapedName writes each letter of a name as an escape sequence.
func escapedName(name string) string {
	var b strings.Builder
	for _, r := range name {
		b.WriteString(`\u00` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
	}
	return b.String()
}

// Effect of a file ".env" on gemini when no settings choose a login.
func TestBillingTricksOfEnvFiles(t *testing.T) {
	for name, content := range map[string]string{
		"plain": "GEMINI_API_KEY=x", "exported": "export GEMINI_API_KEY = 'x'", "indented": "\t GEMINI_API_KEY=\"x\"",
		"Windows": "A=b\r\nGEMINI_API_KEY=x\r\n", "an old Mac": "A=b\rGEMINI_API_KEY=x\r",
		"byte order mark": "\ufeffGEMINI_API_KEY=x", "another blank": "A=b\n\u00a0GEMINI_API_KEY=x", "another line": "A=b\u2028GEMINI_API_KEY=x",
	} {
		t.Run(name, func(t *testing.T) {
			record := filepath.Join(t.TempDir(), "record")
			home, _ := chaintest.FreshMachine(t, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(plans["gemini"].answer)))
			chaintest.Write(t, home, ".gemini/.env", content)
			p := clichain.NewProvider(specs.Gemini(), &clichain.Config{Billing: call.BillingSubscription})
			_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			chaintest.RequireReason(t, clichain.ReasonBilling, err)
			require.NoFileExists(t, record, "it was started")
		})
	}
}

// A script around the CLI may set a key that only the CLI sees, so the CLI itself is asked.
func TestBillingTrickOfAScript(t *testing.T) {
	home, bin := chaintest.FreshMachine(t, clitest.Scenario{})
	chaintest.Write(t, home, "plan", "")
	script := filepath.Join(bin, "claude")
	require.NoError(t, os.Remove(script))
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho the key\n"), 0o700))
	p := clichain.NewProvider(asked(), &clichain.Config{Billing: call.BillingSubscription})
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	require.Contains(t, chaintest.RequireReason(t, clichain.ReasonBilling, err).Message, "api_key would pay")
}
