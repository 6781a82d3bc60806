package plaintext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// looks is a text with the shape of a secret, made so that no file holds one.
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
