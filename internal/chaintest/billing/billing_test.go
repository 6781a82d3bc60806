package billing_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/specs"
)

// lumen is a CLI with a plan and a key that reports which of them it uses.
func lumen() clichain.CliSpec {
	return clichain.CliSpec{
		Name: "claude", Binary: "claude", Outputs: []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON}, PassEnv: []string{"LUMEN_*"},
		Events: []clispec.EventRule{
			{Match: map[string]string{"type": "init"}, Kind: clichain.EventSession, Set: map[string]string{"session": "id", "key_source": "source"}},
			{Match: map[string]string{"type": "result"}, Kind: clichain.EventResult, Terminal: true, Set: map[string]string{"text": "text"}},
		},
		Login: clispec.LoginRules{
			Ways: []clispec.LoginWay{
				{Env: []string{"LUMEN_KEY"}, Billing: call.BillingAPIKey},
				{Env: []string{"LUMEN_GATEWAY"}},
				{Files: []clispec.FileFact{{Path: "~/helper"}}, Unsure: true},
				{Files: []clispec.FileFact{{Path: "~/plan"}}, Billing: call.BillingSubscription},
				{Env: []string{"LUMEN_PLAN"}, Billing: call.BillingSubscription},
			},
			KeySources: map[string]call.Billing{"plan": call.BillingSubscription, ".*KEY|helper": call.BillingAPIKey},
		},
	}
}

// The login files of a plan, by backend, and the output of the CLI for an answer.
var plans = map[string]struct{ path, content, answer string }{
	"claude": {".claude/.credentials.json", `{"claudeAiOauth":{"accessToken":"x","refreshToken":"x"}}`,
		`{"type":"system","subtype":"init","session_id":"s","apiKeySource":"none"}` + "\n" + `{"type":"result","result":"hello"}` + "\n"},
	"codex": {".codex/auth.json", `{"OPENAI_API_KEY":null,"tokens":{"access_token":"x","refresh_token":"x"}}`, chaintest.CodexAnswer("hello")},
	"gemini": {".gemini/oauth_creds.json", `{"refresh_token":"x"}`,
		`{"type":"message","role":"assistant","content":"hello"}` + "\n" + `{"type":"result","status":"success"}` + "\n"},
}

func TestBillingGuard(t *testing.T) {
	const plan, key, nobody = call.BillingSubscription, call.BillingAPIKey, call.BillingUnknown
	for _, test := range []struct {
		name   string
		policy call.Billing
		env    string
		files  string
		source string // that the CLI reports
		output clispec.OutputMode

		want    call.Billing
		reason  clichain.Reason
		skipped bool
		seen    string // environment variables that the CLI sees
	}{
		{name: "any payer: key", env: "LUMEN_KEY", source: "LUMEN_KEY", want: key, seen: "LUMEN_KEY"},
		{name: "any payer: plan", files: "plan", source: "none", want: plan},
		{name: "any payer: gateway", env: "LUMEN_GATEWAY", source: "none", want: nobody, seen: "LUMEN_GATEWAY"},
		{name: "any payer: the CLI reports more than the files", files: "plan", source: "helper", want: key},
		{name: "any payer: the CLI reports the plan", env: "LUMEN_GATEWAY", source: "plan", want: plan, seen: "LUMEN_GATEWAY"},

		{name: "plan only: the key is withheld", policy: call.BillingSubscription, env: "LUMEN_KEY LUMEN_GATEWAY LUMEN_PLAN", source: "none", want: plan, seen: "LUMEN_PLAN"},
		{name: "plan only: no other account exists", policy: call.BillingSubscription, env: "LUMEN_KEY", reason: clichain.ReasonUnauthenticated, skipped: true},
		{name: "plan only: the CLI uses a key anyway", policy: call.BillingSubscription, files: "plan", source: "helper", reason: clichain.ReasonBilling},
		{name: "plan only: the CLI does not report the payer", policy: call.BillingSubscription, files: "plan", source: "", want: plan},
		{name: "plan only: a key helper may be used", policy: call.BillingSubscription, files: "helper", source: "plan", reason: clichain.ReasonBilling, skipped: true},
		{name: "plan only: a key helper may be used beside the plan", policy: call.BillingSubscription, files: "helper plan", source: "plan", reason: clichain.ReasonBilling, skipped: true},
		{name: "plan only: the report comes too late", policy: call.BillingSubscription, files: "helper", output: clispec.OutputJSON, reason: clichain.ReasonBilling, skipped: true},

		{name: "key only: the plan is withheld", policy: call.BillingAPIKey, env: "LUMEN_KEY LUMEN_PLAN", source: "LUMEN_KEY", want: key, seen: "LUMEN_KEY"},
		{name: "key only: a plan exists", policy: call.BillingAPIKey, files: "plan", reason: clichain.ReasonBilling, skipped: true},
		{name: "key only: a key helper would report itself", policy: call.BillingAPIKey, files: "helper", source: "helper", reason: clichain.ReasonBilling, skipped: true},
		{name: "key only: the CLI uses the plan anyway", policy: call.BillingAPIKey, env: "LUMEN_KEY", source: "plan", reason: clichain.ReasonBilling},
		{name: "unknown policy", policy: "free", env: "LUMEN_KEY", reason: clichain.ReasonBadOption, skipped: true},
	} {
		for _, by := range []string{"config", "request"} {
			t.Run(test.name+": by the "+by, func(t *testing.T) {
				record := filepath.Join(t.TempDir(), "record")
				home, _ := chaintest.FreshMachine(t, chaintest.Play(clitest.Step{Record: record},
					chaintest.Stdout(`{"type":"init","id":"s","source":"`+test.source+`"}`+"\n"), chaintest.Stdout(`{"type":"result","text":"hello"}`+"\n")))
				for _, name := range strings.Fields(test.env) {
					t.Setenv(name, "x")
				}
				for _, name := range strings.Fields(test.files) {
					chaintest.Write(t, home, name, "")
				}
				cfg, req := clichain.Config{Billing: test.policy, Output: test.output}, clichain.Prompt("hi")
				if by == "request" {
					cfg.Billing, req.Billing = "", test.policy
				}
				resp, err := clichain.NewProvider(lumen(), &cfg).Complete(t.Context(), req)
				if test.reason != "" {
					chaintest.RequireReason(t, test.reason, err)
					if test.skipped {
						require.NoFileExists(t, record, "it was started")
					}
					return
				}
				require.NoError(t, err)
				require.Equal(t, test.want, resp.Billing)
				got, err := clitest.ReadRecord(record)
				require.NoError(t, err)
				require.Equal(t, test.seen, strings.Join(lumenVariables(got.Env), " "))
			})
		}
	}
}

// If the operator chose the payer, a request can neither choose another one nor bring another account: such a call is
// refused before anything starts.
func TestRequestCannotChangeWhoPays(t *testing.T) {
	for name, test := range map[string]struct {
		policy call.Billing
		set    func(*clichain.Request)
		field  string // "": the call is answered
	}{
		"another payer":        {call.BillingSubscription, func(r *clichain.Request) { r.Billing = call.BillingAPIKey }, "billing"},
		"the same payer":       {call.BillingSubscription, func(r *clichain.Request) { r.Billing = call.BillingSubscription }, ""},
		"raw arguments":        {call.BillingSubscription, func(r *clichain.Request) { r.Options.Extra = map[string][]string{"claude": {"--key=x"}} }, "options.extra.claude"},
		"those of another CLI": {call.BillingSubscription, func(r *clichain.Request) { r.Options.Extra = map[string][]string{"codex": {"--key=x"}} }, ""},
		"its own payer's": {"", func(r *clichain.Request) {
			r.Billing, r.Options.Extra = "subscription", map[string][]string{"claude": {"x"}}
		}, "options.extra.claude"},
		"a variable of the CLI": {call.BillingSubscription, func(r *clichain.Request) { r.Env = map[string]string{"LUMEN_KEY": "x"} }, "env.LUMEN_KEY"},
		"any other variable":    {call.BillingSubscription, func(r *clichain.Request) { r.Env = map[string]string{"APP_ID": "x"} }, ""},
		"anybody may pay":       {"", func(r *clichain.Request) { r.Options.Extra = map[string][]string{"claude": {"--key=x"}} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			home, _ := chaintest.FreshMachine(t, chaintest.Play(chaintest.Stdout(`{"type":"init","id":"s","source":"plan"}`+"\n"), chaintest.Stdout(`{"type":"result","text":"hello"}`+"\n")))
			chaintest.Write(t, home, "plan", "")
			p := clichain.NewProvider(lumen(), &clichain.Config{Billing: test.policy, RequestEnv: []string{"LUMEN_*", "APP_*"}})
			req := clichain.Prompt("hi")
			test.set(&req)
			resp, err := p.Complete(t.Context(), req)
			if test.field == "" {
				require.NoError(t, err)
				require.Equal(t, call.BillingSubscription, resp.Billing)
				return
			}
			failed := chaintest.RequireReason(t, clichain.ReasonBilling, err)
			require.Equal(t, test.field, failed.Option)
			require.Equal(t, call.StageSkipped, failed.Stage)
		})
	}
}

// Calls with different payers share neither a warm process nor a cooldown.
func TestPayersAreKeptApart(t *testing.T) {
	program := clitest.Fake(t, "claude", chaintest.Play(clitest.Exit(1)))
	t.Setenv("HOME", t.TempDir())
	t.Setenv("ANTHROPIC_API_KEY", "x")
	chaintest.Write(t, os.Getenv("HOME"), plans["claude"].path, plans["claude"].content)
	p := clichain.NewProvider(specs.Claude(), &clichain.Config{Binary: program})
	req := clichain.Prompt("hi")
	keys, cooldowns := map[string]bool{}, map[string]bool{}
	for _, payer := range []call.Billing{"", call.BillingSubscription} {
		req.Billing = payer
		key, err := p.HoldKey(t.Context(), req)
		require.NoError(t, err)
		keys[key], cooldowns[chaintest.CooldownKeyOf(p, req)] = true, true
	}
	require.Len(t, keys, 2)
	require.Len(t, cooldowns, 2)
}

// A backend requires an API key only if a key is known to pay.
func TestRequiresAPIKey(t *testing.T) {
	for name, test := range map[string]struct {
		env, file string
		policy    call.Billing
		want      bool
	}{
		"a key":              {env: "LUMEN_KEY", want: true},
		"a plan":             {file: "plan"},
		"a plan in variable": {env: "LUMEN_PLAN"},
		"nobody knows":       {env: "LUMEN_GATEWAY"},
		"nobody":             {},
		"only a key may pay": {policy: call.BillingAPIKey, want: true},
		"a key that may not": {env: "LUMEN_KEY", policy: call.BillingSubscription},
	} {
		home, _ := chaintest.FreshMachine(t, chaintest.Play())
		t.Setenv("LUMEN_KEY", "")
		t.Setenv("LUMEN_PLAN", "")
		t.Setenv("LUMEN_GATEWAY", "")
		if test.env != "" {
			t.Setenv(test.env, "x")
		}
		if test.file != "" {
			chaintest.Write(t, home, test.file, "")
		}
		require.Equal(t, test.want, clichain.NewProvider(lumen(), &clichain.Config{Billing: test.policy}).RequiresAPIKey(), name)
	}
	require.False(t, clichain.NewProvider(clichain.CliSpec{}, nil).RequiresAPIKey(), "of a broken spec nothing is known")
}

func lumenVariables(environ []string) (names []string) {
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "LUMEN_") {
			names = append(names, name)
		}
	}
	return names
}

// The guard ends the run before its model can have worked for long.
func TestBillingGuardEndsTheRun(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, chaintest.Play(chaintest.Stdout(`{"type":"init","id":"s","source":"helper"}`+"\n"), clitest.Step{Hang: true}))
	chaintest.Write(t, home, "plan", "")
	_, err := clichain.NewProvider(lumen(), &clichain.Config{Billing: call.BillingSubscription}).Complete(t.Context(), clichain.Prompt("hi"))
	be := chaintest.RequireReason(t, clichain.ReasonBilling, err)
	require.Contains(t, be.Error(), "only subscription may pay")
}

// Environment variables that each policy withholds from the real CLIs.
func TestBillingBarsTheVendorsKeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ backend, policy, sees, never string }{
		{"claude", "subscription", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_USE_BEDROCK"},
		{"claude", "api_key", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"},
		{"codex", "subscription", "", "CODEX_API_KEY OPENAI_API_KEY"},
		{"gemini", "subscription", "", "GEMINI_API_KEY GOOGLE_API_KEY"},
		{"cursor-agent", "subscription", "", "CURSOR_API_KEY"},
	} {
		t.Run(test.backend+" "+test.policy, func(t *testing.T) {
			spec, _ := specs.ByName(test.backend)
			barred := login.Barred(call.Billing(test.policy), spec.Login)
			for _, name := range strings.Fields(test.never) {
				require.Contains(t, barred, name)
			}
			require.NotContains(t, barred, test.sees)
		})
	}
}

// Usage beyond a plan costs money like a key. If only the plan may pay, it ends the run at once.
func TestUsageOverAPlan(t *testing.T) {
	const covered = `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","isUsingOverage":false,"overageStatus":"allowed"}}` + "\n"
	const over = `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","isUsingOverage":true,"overageStatus":"allowed"}}` + "\n"
	init, result, _ := strings.Cut(plans["claude"].answer, "\n")
	for _, test := range []struct {
		name, event string
		policy      call.Billing
		want        call.Billing
		reason      clichain.Reason
	}{
		{name: "covered", event: covered, policy: call.BillingSubscription, want: call.BillingSubscription},
		{name: "over", event: over, policy: call.BillingSubscription, reason: clichain.ReasonBilling},
		{name: "beyond the plan, any payer", event: over, want: call.BillingAPIKey},
	} {
		t.Run(test.name, func(t *testing.T) {
			steps := []clitest.Step{chaintest.ReadStdin, chaintest.Stdout(init + "\n"), chaintest.Stdout(test.event), chaintest.Stdout(result)}
			if test.reason != "" {
				steps[3] = clitest.Step{Hang: true}
			}
			home, _ := chaintest.FreshMachine(t, chaintest.Play(steps...))
			chaintest.Write(t, home, plans["claude"].path, plans["claude"].content)
			p := clichain.NewProvider(specs.Claude(), &clichain.Config{Billing: test.policy})
			resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			if test.reason != "" {
				chaintest.RequireReason(t, test.reason, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, resp.Billing)
		})
	}
}
