package plaintext

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// looks returns a text with the shape of a secret. It is computed so that no file contains one.
func looks(prefix string, n int) string { return prefix + strings.Repeat("x1", n/2) }

func TestRedactor(t *testing.T) {
	r := NewRedactor([]string{
		"ANTHROPIC_API_KEY=my-own-key-0", "MY_TOKEN=my-own-key-0-and-more", "AWS_SECRET_ACCESS_KEY=short", "HOME=/home/someone", "DB_PASSWORD=correct horse",
	})
	for text, want := range map[string]string{
		"401 for my-own-key-0 at /home/someone":                     "401 for [redacted] at /home/someone",
		"my-own-key-0-and-more":                                     "[redacted]",
		"it is short":                                               "it is short",
		"correct horse battery":                                     "[redacted] battery",
		"Authorization: Bearer " + looks("", 20):                    "Authorization: Bearer [redacted]",
		`"x-goog-api-key": "` + looks("", 20) + `"`:                 `"x-goog-api-key": "[redacted]"`,
		"GET https://h/v1?alt=sse&key=" + looks("", 20) + "&a=1":    "GET https://h/v1?alt=sse&key=[redacted]&a=1",
		"proxy http://user:" + looks("", 10) + "@proxy:8080/ gone":  "proxy http://[redacted]@proxy:8080/ gone",
		"Incorrect API key provided: " + looks("sk-", 24) + ".":     "Incorrect API key provided: [redacted].",
		looks("AIza", 34):                                           "[redacted]",
		looks("ghp_", 24):                                           "[redacted]",
		looks("eyJ", 12) + "." + looks("", 12) + "." + looks("", 4): "[redacted]",
		"the risk-free sk-learn, key=value, bearer of news":         "the risk-free sk-learn, key=value, bearer of news",
		"api key not valid. Please pass a valid API key.":           "api key not valid. Please pass a valid API key.",
	} {
		require.Equal(t, want, r.Clean(text))
	}
}

func inJSON(text string) []byte {
	quoted, _ := json.Marshal(text)
	return quoted
}

func TestRedactorForms(t *testing.T) {
	const slash = "what?is?this???" // its base64 form contains "/"
	const value, odd, phrase, lines = "secret-value-of-a-test", "sécret/val<ue> \"of?a&test\\", "nine words of a test", "first-line\nsecond-line\n"
	r := NewRedactor([]string{"A_KEY=" + value, "B_KEY=" + odd, "C_KEY=" + phrase, "D_KEY=" + lines, "E_KEY= padded-test-value\r\n", "F_KEY=name-of-a-test", "G_KEY=" + slash})
	std, web := base64.StdEncoding, base64.URLEncoding
	quoted, _ := json.Marshal(odd)
	inner := string(quoted[1 : len(quoted)-1])
	twice, _ := json.Marshal(inner)
	wrapped := func(s, with string) string { return s[:5] + with + s[5:11] + with + s[11:] }
	for _, test := range []struct{ form, text, want string }{
		{"value", value, "<>"},
		{"trailing newline in the variable", "padded-test-value", "<>"},
		{"both", "padded-test-value and " + value, "<> and <>"},
		{"several lines", "first-line\nsecond-line", "<>"},
		{"several lines in JSON", `first-line\nsecond-line`, "<>"},
		{"several lines in base64", std.EncodeToString([]byte(lines)), "<>"},
		{"base64", std.EncodeToString([]byte(value)), "<>"},
		{"base64 without padding", base64.RawStdEncoding.EncodeToString([]byte(value)), "<>"},
		{"base64 with special characters", std.EncodeToString([]byte(odd)), "<>"},
		{"base64 for URLs", web.EncodeToString([]byte(odd)), "<>"},
		{"base64 for URLs without padding", base64.RawURLEncoding.EncodeToString([]byte(odd)), "<>"},
		{"base64 of user and secret", std.EncodeToString([]byte("user:" + value)), "dXNlcjp<>"},
		{"base64 of an object with the secret", std.EncodeToString([]byte(`{"k": "` + value + `"}`)), "eyJrIjogIn<>QifQ=="},
		{"Basic", "Authorization: Basic " + std.EncodeToString([]byte("user:unknown")), "Authorization: Basic <>"},
		{"Basic in lower case letters", "basic " + std.EncodeToString([]byte("j-:~vi:z~a")), "basic <>"},
		{"query", url.QueryEscape(odd), "<>"},
		{"path", url.PathEscape(odd), "<>"},
		{"query in lower case", percent().ReplaceAllStringFunc(url.QueryEscape(odd), strings.ToLower), "<>"},
		{"component", "s%C3%A9cret%2Fval%3Cue%3E%20%22of%3Fa%26test%5C", "<>"},
		{"JSON", inner, "<>"},
		{"JSON of JavaScript", `sécret/val<ue> \"of?a&test\\`, "<>"},
		{"JSON of Python", `s\u00e9cret/val<ue> \"of?a&test\\`, "<>"},
		{"JSON of PHP", `sécret\/val<ue> \"of?a&test\\`, "<>"},
		{"JSON in JSON", string(twice), `"<>"`},
		{"path in JSON", string(inJSON(url.PathEscape(odd))), `"<>"`},
		{"path in JSON in JSON", string(inJSON(string(inJSON(url.PathEscape(odd))))), `"\"<>\""`},
		{"base64 in JSON of PHP", strings.ReplaceAll(std.EncodeToString([]byte(slash)), "/", `\/`), "<>"},
		{"hex", hex.EncodeToString([]byte(value)), "<>"},
		{"hex in upper case", strings.ToUpper(hex.EncodeToString([]byte(value))), "<>"},
		{"wrapped", wrapped(value, "\n"), "<>"},
		{"wrapped by CRLF", wrapped(value, "\r\n"), "<>"},
		{"wrapped and indented", wrapped(value, "\n    "), "<>"},
		{"wrapped in JSON", `{"a":"` + wrapped(value, `\n  `) + `"}`, `{"a":"<>"}`},
		{"wrapped in JSON by CRLF", wrapped(value, `\r\n`), "<>"},
		{"wrapped in JSON in JSON", wrapped(value, `\\n`), "<>"},
		{"wrapped base64", wrapped(std.EncodeToString([]byte(value)), "\n"), "<>"},
		{"wrapped hex", wrapped(hex.EncodeToString([]byte(value)), "\n"), "<>"},
		{"wrapped between words", "nine words\nof a test", "<>"},
		{"wrapped between words in JSON", `nine words\n  of a test`, "<>"},
		{"after a JSON line break", `a\nname-of-a-test`, `a\n<>`},
		{"after a backslash", `C:\name-of-a-test`, `C:\<>`},
		{"cut by OneLine", "401 for secret-value-o…", "401 for <>…"},
		{"key after a JSON line break", `a\n` + looks("sk-", 24), `a\n<>`},
		{"header in JSON in JSON", `{\"x-api-key\": \"` + looks("", 20) + `\"}`, `{\"x-api-key\": \"<>\"}`},
	} {
		t.Run(test.form, func(t *testing.T) {
			require.Equal(t, "a="+strings.ReplaceAll(test.want, "<>", redaction), r.Clean("a="+test.text))
		})
	}
}

// Lines that are shown apart contain no part of a secret that is wrapped across them.
func TestCleanLine(t *testing.T) {
	const secret = "secret-value-of-a-test-in-lines"
	r := NewRedactor([]string{"A_KEY=" + secret, "B_KEY=another-value-here"})
	std := base64.StdEncoding.EncodeToString([]byte(secret))
	for text, want := range map[string]string{
		secret:                            "[redacted]",
		"key: secret-value-":              "key: [redacted]",
		"key: secret-value-  \r":          "key: [redacted]  \r",
		"of-a-test-in-lines and more":     "[redacted] and more",
		"  of-a-test-in-lines":            "  [redacted]",
		"value-of-a-test":                 "[redacted]",
		"cHVibGlj " + std[:20]:            "cHVibGlj [redacted]",
		std[20:]:                          "[redacted]",
		"in-lines secret-v":               "[redacted] [redacted]",
		"value-of-another thing, secret-": "value-of-another thing, secret-",
		"":                                "", "a line": "a line", "\n": "\n",
	} {
		require.Equal(t, want, r.CleanLine(text), text)
	}
	require.Equal(t, "Bearer [redacted]", (*Redactor)(nil).CleanLine("Bearer "+looks("", 10)))
}

// leastAllocs returns the allocations of f with full pools of package regexp. The race detector empties the pools at
// random.
func leastAllocs(f func()) float64 {
	least := testing.AllocsPerRun(1, f)
	for range 20 {
		least = min(least, testing.AllocsPerRun(1, f))
	}
	return least
}

// Text that only resembles a secret stays unchanged and causes no allocation.
func TestRedactorKeepsOtherText(t *testing.T) {
	r := NewRedactor([]string{"A_KEY=secret-value-of-a-test", "B_KEY=nine words of a test", "C_KEY=short\n"})
	for _, text := range []string{
		"secret-value-of\n-another", "Basic authentication failed", "basic information", "short", `C:\new\readme https://host/a@b k-means`,
		strings.Repeat("nine words, api and keys. eyJ? risk-free\n", 1000), "cut sec…",
	} {
		require.Equal(t, text, r.Clean(text))
		require.Zero(t, leastAllocs(func() { r.Clean(text) }), text)
	}
	raw := []byte(`{"command":"go test ./...\n"}`)
	require.Same(t, &raw[0], &r.CleanJSON(raw)[0])
	require.Zero(t, leastAllocs(func() { r.CleanJSON(raw) }))
	require.Equal(t, `{"a":"[redacted]"}`, string(r.CleanJSON([]byte(`{"a":"secret-value-of-a-test"}`))))
	require.Equal(t, `"[redacted]"`, string(NewRedactor([]string{"KEY=name-of-a-test"}).CleanJSON([]byte(`"\name-of-a-test"`))))
	require.Equal(t, "Bearer [redacted]", (*Redactor)(nil).Clean("Bearer "+looks("", 10)))
}

func BenchmarkRedactor(b *testing.B) {
	r := NewRedactor([]string{"A_KEY=secret-value-of-a-test", "B_KEY=nine words of a test", "C_TOKEN=another-value"})
	for name, line := range map[string]string{
		"lines": "-rw-r--r-- 1 dev dev 4815 Nov 20 14:22 internal/proc/run_test.go https://host/path?key\n",
		"JSON":  `{"type":"text_delta","text":"The basic idea is a key. It ends the line:\n\tfunc main() {\n"},`,
		"prose": "The worker keeps the key of each job and asks the next backend if the first one fails. ",
	} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(line, 1<<20/len(line))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Clean(text)
			}
		})
	}
}
