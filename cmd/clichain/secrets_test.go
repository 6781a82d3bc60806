package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

// secretForms maps names of encodings to the encoded secret.
func secretForms(t *testing.T, secret string) map[string]string {
	t.Helper()
	quoted, err := json.Marshal(secret)
	require.NoError(t, err)
	std := base64.StdEncoding
	return map[string]string{
		"plain": secret, "base64": std.EncodeToString([]byte(secret)), "base64 for URLs": base64.URLEncoding.EncodeToString([]byte(secret)),
		"Basic": "Basic " + std.EncodeToString([]byte("user:"+secret)), "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
		"JSON": string(quoted[1 : len(quoted)-1]), "hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"wrapped": secret[:9] + "\n  " + secret[9:], "wrapped base64": std.EncodeToString([]byte(secret))[:9] + "\r\n" + std.EncodeToString([]byte(secret))[9:],
	}
}

// tellTale returns a claude that prints a text in all kinds of output, and then fails.
func tellTale(t *testing.T, told string) clitest.Scenario {
	t.Helper()
	var lines []string
	add := func(format string, values ...any) {
		for i := range values {
			quoted, err := json.Marshal(values[i])
			require.NoError(t, err)
			values[i] = string(quoted)
		}
		lines = append(lines, fmt.Sprintf(format, values...))
	}
	add(`{"type":"system","subtype":"init","session_id":"s1","model":%s,"apiKeySource":%s}`, told, told)
	add(`{"type":"system","subtype":"status","status":%s}`, told)
	add(`{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":%s}}`, told)
	add(`{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":1,"error_status":529,"error":%s}`, told)
	add(`{"type":"rate_limit_event","rate_limit_info":{"status":%s,"rateLimitType":%s}}`, told, told)
	add(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":%s,"name":%s,"input":{"command":%s}}]}}`, told, told, told)
	add(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%s,"content":%s}]}}`, told, told)
	add(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":%s}]}]}}`, told)
	add(`{"type":"of a later version","x":%s}`, told)
	lines = append(lines, "no JSON: "+told) // one or two lines; each becomes an event
	add(`{"type":"assistant","error":%s,"message":{"content":[{"type":"text","text":%s}]}}`, told, told)
	add(`{"type":"result","is_error":true,"num_turns":1,"result":%s,"api_error_type":%s}`, told, told)
	steps := []clitest.Step{{ReadStdin: true}, {Stderr: "Warning: 401 for " + told + "\n"}}
	return clitest.Scenario{Steps: append(append(steps, stdout(lines...)...), clitest.Exit(1))}
}

// The output of the command must not contain a secret from the environment of the CLI, in any encoding.
func TestOutputHasNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "sécret/val<ue> \"of?a&test\\0"
	forms := secretForms(t, secret)
	told := strings.Join(slices.Collect(maps.Values(forms)), " | ")
	for name, args := range map[string][]string{
		"events and trace": {"--stream", "--json", "--trace"}, "text and trace": {"--stream", "--trace"}, "answer": {"--json"},
		"failure in JSON": {"--stream", "--json", "--only", "claude"}, "failure": {"--trace", "--only", "claude"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, err := clitest.Install(w.bin, "claude", tellTale(t, "a "+told+" z"))
			require.NoError(t, err)
			w.fake("codex", "answer", "fine")
			cmd := w.command(append(append([]string{"ask"}, args...), "hi")...)
			cmd.Env = append(cmd.Env, "ANTHROPIC_API_KEY="+secret+"\n")
			out, err := cmd.CombinedOutput()
			require.Equal(t, strings.Contains(name, "failure"), err != nil, "%s", out)
			require.Contains(t, string(out), "[redacted]")
			requireNoForm(t, forms, string(out))
		})
	}
}

// requireNoForm searches the text for each encoding, as plain text and as JSON, also if line breaks or spaces split
// it.
func requireNoForm(t *testing.T, forms map[string]string, text string) {
	t.Helper()
	unbroken := strings.NewReplacer(`\n`, "", `\r`, "", "\n", "", "\r", "", " ", "").Replace(text)
	for form, told := range forms {
		quoted, err := json.Marshal(told)
		require.NoError(t, err)
		require.NotContains(t, text, told, form)
		require.NotContains(t, text, string(quoted[1:len(quoted)-1]), form)
		told = strings.TrimPrefix(strings.NewReplacer("\n", "", "\r", "", " ", "").Replace(told), "Basic")
		require.NotContains(t, unbroken, told, "%s, unbroken", form)
		require.NotContains(t, unbroken, told[:len(told)/2-3], "the first half of %s", form)
		require.NotContains(t, unbroken, told[len(told)/2+3:], "the second half of %s", form)
	}
}
