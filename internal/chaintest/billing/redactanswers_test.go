package billing_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// disguisedSecrets returns a key in the forms that terminals and encoders give it, by name.
func disguisedSecrets(secret string) map[string]string {
	twice := base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(secret))))
	return map[string]string{
		"in colours": secret[:9] + "\x1b[1m" + secret[9:], "zero width": secret[:9] + "\u200b" + secret[9:], "blanks": strings.Join(strings.Split(secret, ""), " "),
		"capitals": strings.ToUpper(secret), "hex with colons": strings.Join(strings.SplitAfter(hex.EncodeToString([]byte(secret)), ""), ":"),
		"base64 twice": twice, "a piece": secret[2:30], "bytes": strings.ReplaceAll(strings.ReplaceAll(secret, "k", `\x6b`), "7", `\x37`),
	}
}

// No text of a failure contains a secret, in whatever form and place the CLI prints it.
func TestFailuresHoldNoDisguisedSecrets(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("k7Qx2m", 6)
	for form, told := range disguisedSecrets(secret) {
		quoted, err := json.Marshal(told)
		require.NoError(t, err)
		text := string(quoted[1 : len(quoted)-1])
		for place, steps := range map[string][]clitest.Step{
			"stderr":          {{Stderr: "what is " + told + "?\n"}},
			"a warning":       {{Stderr: "Warning: 401 for " + told + "\n"}},
			"a login":         {{Stderr: "Invalid API key " + told + " please run /login\n"}},
			"a failed result": {chaintest.Stdout(chaintest.FailedLine("API Error: 401 for " + text))},
			"a retry":         {chaintest.Stdout(`{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":1,"error_status":529,"error":"for ` + text + `"}`)},
			"no JSON":         {chaintest.Stdout("what is " + told + "?\n")},
		} {
			t.Run(form+" in "+place, func(t *testing.T) {
				clitest.NoLeaks(t)
				var log bytes.Buffer
				cfg := clichain.Config{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), Env: []string{"ANTHROPIC_CUSTOM_HEADERS=X-Key: " + secret}}
				p := chaintest.Provider(t, specs.Claude(), cfg, chaintest.Play(append(append([]clitest.Step{chaintest.ReadStdin}, steps...), clitest.Exit(1))...))
				var all strings.Builder
				for e, err := range p.Stream(t.Context(), clichain.Prompt("hi")) {
					if err != nil {
						b, _ := json.Marshal(err)
						all.WriteString(err.Error() + string(b))
						continue
					}
					if e.Kind == clichain.EventRaw {
						continue // no text of a failure
					}
					b, _ := json.Marshal(e)
					all.Write(b)
				}
				all.WriteString(log.String())
				require.Contains(t, all.String(), "[redacted]")
				require.NotContains(t, all.String(), told)
				require.NotContains(t, all.String(), text)
				require.NotContains(t, all.String(), secret[12:24])
			})
		}
	}
}

// Config.RedactAnswers also redacts secrets in the model's text, whole or in deltas, and reports it.
func TestRedactAnswers(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("k7Qx2m", 6)
	delta := func(text string) string {
		return `{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"` + text + `"}}}`
	}
	thinking := `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"I found ` + secret + `"}]}}`
	block := `{"type":"assistant","message":{"content":[{"type":"text","text":"it is ` + secret + `"}]}}`
	result := `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"it is ` + secret + `"}`
	lines := chaintest.Stdout(thinking + "\n" + delta("it is "+secret[:12]) + "\n" + delta(secret[12:]) + "\n" + block + "\n" + result + "\n")
	for name, test := range map[string]struct {
		redact bool
		text   string
		flags  []call.Flag
	}{
		"by default they stay": {false, "it is " + secret, nil},
		"taken out":            {true, "it is [redacted]", []call.Flag{call.FlagRedacted}},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			p := chaintest.Provider(t, specs.Claude(), clichain.Config{RedactAnswers: test.redact, Env: []string{"ANTHROPIC_API_KEY=" + secret}}, chaintest.Play(chaintest.ReadStdin, lines))
			resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, test.text, resp.Text)
			require.Equal(t, test.flags, resp.Flags)
			var text strings.Builder
			for e, err := range p.Stream(t.Context(), clichain.Prompt("hi")) {
				require.NoError(t, err)
				switch e.Kind {
				case clichain.EventDelta, clichain.EventText:
					text.WriteString(e.Text)
				case clichain.EventReset:
					text.Reset()
				}
				b, _ := json.Marshal(e)
				require.False(t, test.redact && strings.Contains(string(b), secret[12:]), "%s", b)
			}
			require.Equal(t, test.text, text.String())
		})
	}
}

// The partial answer of a failed run is redacted as well.
func TestRedactPartialAnswers(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	secret := strings.Repeat("k7Qx2m", 6)
	block := `{"type":"assistant","message":{"content":[{"type":"text","text":"it is ` + secret + `"}]}}` + "\n"
	p := chaintest.Provider(t, specs.Claude(), clichain.Config{RedactAnswers: true, Env: []string{"ANTHROPIC_API_KEY=" + secret}},
		chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(block), clitest.Step{Stderr: "crashed\n"}, clitest.Exit(1)))
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	var be *clichain.BackendError
	require.ErrorAs(t, err, &be)
	require.Equal(t, "it is [redacted]", be.Partial)
}
