package call

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAdviceString(t *testing.T) {
	for want, a := range map[string]Advice{
		"set Config.TrustDir":                            {ActionSet, "config.trust_dir", ""},
		"set Access to AccessNone":                       {ActionSet, "access", "none"},
		"set Config.Sandbox to SandboxOff":               {ActionSet, "config.sandbox", "off"},
		"set Access to AccessRead or more":               {ActionRaise, "access", "read"},
		"set Options.MCPConfig":                          {ActionSet, "options.mcp_config", ""},
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

// A hint and advice are alternatives on one line, without empty ones.
func TestJoinHint(t *testing.T) {
	advice := []Advice{{Field: "a"}, {Field: "hidden"}, {Field: "b"}}
	text := func(a Advice) string { return strings.TrimPrefix(a.Field, "hidden") }
	for _, test := range []struct {
		name, hint string
		advice     []Advice
		want       string
	}{
		{"nothing", "", nil, ""},
		{"hint", "log in", nil, "log in"},
		{"advice", "", advice, "a, or b"},
		{"both", "log in", advice, "log in, or a, or b"},
		{"advice without text", "log in", advice[1:2], "log in"},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, JoinHint(test.hint, test.advice, text)) })
	}
}
