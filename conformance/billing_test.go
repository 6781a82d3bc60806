package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/specs"
)

// payer is a claude with a plan, and with these files, environment variables and replies.
type payer struct {
	files map[string]string
	env   []string
	reply loopback.Reply
}

func (w payer) ask(t *testing.T, cfg clichain.Config) (*clichain.Response, *loopback.Server, error) {
	t.Helper()
	netns.Require(t)
	server := loopback.New(t, loopback.Always(w.reply))
	h := home.New(t, home.Claude, server.URL, home.Subscribed)
	for path, content := range w.files {
		h.Write(t, path, content)
	}
	cfg.Binary, cfg.Env, cfg.Timeout = h.Binary, append(h.Env, w.env...), minute
	resp, err := clichain.NewProvider(specs.Claude(), &cfg).Complete(t.Context(), clichain.Prompt("hi"))
	return resp, server, err
}

const settings = ".claude/settings.json"

// The home has a plan. Each policy allows one account to pay. If another account would pay, or if the account is
// unknown, no request is sent.
func TestBillingPolicies(t *testing.T) {
	const plan, key, none = call.BillingSubscription, call.BillingAPIKey, call.BillingUnknown
	helper := map[string]string{settings: `{"apiKeyHelper":"echo loopback"}`}
	escaped := map[string]string{settings: `{"env":{"\u0041NTHROPIC_API_KEY":"loopback"}}`}
	for _, test := range []struct {
		name   string
		payer  payer
		policy call.Billing
		auth   string // "": no request is sent
	}{
		{"no policy: key in the environment", payer{env: []string{"ANTHROPIC_API_KEY=" + home.Key}}, none, "x-api-key"},
		{"subscription: key in the environment", payer{env: []string{"ANTHROPIC_API_KEY=" + home.Key}}, plan, "bearer"},
		{"subscription: key in the settings", payer{files: escaped}, plan, ""},
		{"subscription: key helper", payer{files: helper}, plan, ""},
		{"subscription: gateway", payer{files: map[string]string{settings: `{"env":{"ANTHROPIC_AUTH_TOKEN":"loopback"}}`}}, plan, ""},
		{"subscription: cloud provider", payer{files: map[string]string{settings: `{"env":{"\u0043LAUDE_CODE_USE_BEDROCK":"1"}}`}}, plan, ""},
		{"subscription: empty key helper", payer{files: map[string]string{settings: `{"apiKeyHelper":""}`}}, plan, "bearer"},
		{"subscription: invalid settings", payer{files: map[string]string{settings: "// me\n{}"}}, plan, "bearer"},
		{"API key: in the environment", payer{env: []string{"ANTHROPIC_API_KEY=" + home.Key}}, key, "x-api-key"},
		{"API key: in the settings", payer{files: escaped}, key, "x-api-key"},
		{"API key: missing", payer{}, key, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.payer.reply = loopback.Text(hello)
			resp, server, err := test.payer.ask(t, clichain.Config{Billing: test.policy})
			if test.auth == "" {
				require.ErrorIs(t, err, clichain.ErrBilling)
				require.Empty(t, server.Requests())
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.auth, server.Calls()[0].Auth)
			require.Equal(t, test.auth == "bearer", resp.Billing == plan)
		})
	}
}

// Usage over the limit of a plan is billed. The policy BillingSubscription refuses it.
func TestUsageOverAPlan(t *testing.T) {
	t.Parallel()
	over := payer{reply: loopback.Text(hello).
		With("anthropic-ratelimit-unified-status", "rejected").
		With("anthropic-ratelimit-unified-reset", "4102444800").
		With("anthropic-ratelimit-unified-representative-claim", "five_hour").
		With("anthropic-ratelimit-unified-overage-status", "allowed")}
	_, _, err := over.ask(t, clichain.Config{Billing: call.BillingSubscription})
	require.ErrorIs(t, err, clichain.ErrBilling)
	resp, _, err := over.ask(t, clichain.Config{})
	require.NoError(t, err)
	require.Equal(t, call.BillingAPIKey, resp.Billing)
	require.Equal(t, "overage", resp.KeySource)
}
