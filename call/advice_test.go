package call

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAdviceString(t *testing.T) {
	for want, a := range map[string]Advice{
		"set Config.TrustDir":                            {ActionSet, "config.trust_dir", ""},
		"set Access to AccessNone":                       {ActionSet, "access", "none"},
		"set Config.Sandbox to SandboxOff":               {ActionSet, "config.sandbox", "off"},
		"set Access to AccessRead or more":               {ActionRaise, "access", "read"},
		"leave Options.SessionID empty":                  {ActionUnset, "options.session_id", ""},
		"add A_KEY to Config.RequestEnv":                 {ActionAdd, "config.request_env", "A_KEY"},
		"set A_KEY and add it to Config.PassEnv":         {ActionPass, "config.pass_env", "A_KEY"},
		"read .mcp.json, and set Dir if you trust it":    {ActionTrust, "dir", ".mcp.json"},
		"the operator can allow it with Permissions.MCP": {ActionPermit, "permissions.mcp", ""},
	} {
		require.Equal(t, want, a.String())
	}
}

func TestErrorWithAdvice(t *testing.T) {
	e := &Error{Backend: "c", Reason: ReasonBilling, ExitCode: -1, Hint: "log in", Advice: []Advice{
		{Action: ActionUnset, Field: "config.billing"}, {Action: ActionRaise, Field: "access", Value: "read"},
	}}
	const hint = "log in, or leave Config.Billing empty, or set Access to AccessRead or more"
	require.Equal(t, "c: billing ["+hint+"]", e.Error())
	require.Contains(t, e.LogValue().String(), "hint="+hint)
	text, err := json.Marshal(e)
	require.NoError(t, err)
	require.JSONEq(t, `{"backend":"c","reason":"billing","exit_code":-1,"hint":"log in","advice":[`+
		`{"action":"unset","field":"config.billing"},{"action":"raise","field":"access","value":"read"}]}`, string(text))
	var back Error
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, e, &back)
}
