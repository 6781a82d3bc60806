package plaintext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// aRandom returns a word that looks random. It is computed so that no file contains a key.
func aRandom(n int) string { return strings.Repeat("x9Kq2", n/5+1)[:n] }

func TestSecretsOf(t *testing.T) {
	random := aRandom(24)
	for name, test := range map[string]struct {
		variable, value string
		want            []string
	}{
		"a key":                    {"A_KEY", "my-own-value", []string{"my-own-value"}},
		"personal access token":    {"MCP_PAT", "my-own-value", []string{"my-own-value"}},
		"a password":               {"MYSQL_PWD", "my-own-value", []string{"my-own-value"}},
		"scheme and token":         {"X_AUTH", "Bearer my-own-value", []string{"Bearer my-own-value", "my-own-value"}},
		"headers in lines":         {"ANTHROPIC_CUSTOM_HEADERS", "X-Team: my-own-team\nAuthorization: Bearer my-own-value\n", []string{"Bearer my-own-value", "my-own-team", "my-own-value"}},
		"headers in a list":        {"OTEL_EXPORTER_OTLP_HEADERS", "x-team=my-own-team,authorization=Bearer%20my-own-value", []string{"Bearer%20my-own-value", "my-own-team", "my-own-value"}},
		"headers without a secret": {"CUSTOM_HEADERS", "Accept: application/json", nil},
		"query of a URL":           {"ANTHROPIC_BASE_URL", "https://gw.example/v1?tok=my-own%2Fvalue&region=eu-central-1&api-version=2024-10-21", []string{"my-own%2Fvalue", "my-own/value"}},
		"login of a URL":           {"HTTPS_PROXY", "http://robot:my-own%2Fvalue@proxy:8080", []string{"my-own%2Fvalue", "my-own/value", "robot:my-own%2Fvalue"}},
		"token as login":           {"REPO", "https://my-own-value@host/repo.git", []string{"my-own-value"}},
		"path of a URL":            {"SLACK", "https://hooks.example/services/T00/" + random, []string{random}},
		"a fragment":               {"CALLBACK", "https://host/#access=my-own-value", []string{"my-own-value"}},
		"random value":             {"WHATEVER", random, []string{random}},
		"random value in JSON":     {"CONFIG", `{"a":"` + random + `","b":"plain words"}`, []string{random}},
		"random value of 19 bytes": {"WHATEVER", aRandom(19), nil},
		"short key":                {"A_KEY", "short", nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, secretsOf(test.variable, test.value))
		})
	}
}

// Values that users need to read in an error are no secrets.
func TestOrdinaryValues(t *testing.T) {
	for _, kv := range []string{
		"PATH=/home/someone/.nvm/versions/node/v22.14.0/bin:/usr/local/go1.26.8/bin:/usr/bin", "HOME=/home/someone",
		"TMPDIR=/tmp/nix-shell-1234-0a1b2c3d4e5f6a7b", "HOSTNAME=worker-7d9c5b6f4d-x2k8z-1a2b3c4d", "LANG=en_US.UTF-8",
		"ANTHROPIC_MODEL=claude-sonnet-4-5-20250929", "GEMINI_MODEL=gemini-2.5-flash-preview-09-2025",
		"BASE_URL=https://gateway.internal.example.com:8443/anthropic/v1/messages", "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus",
		"RUN=123e4567-e89b-12d3-a456-426614174000", "GITHUB_SHA=" + strings.Repeat("0a1b2", 8), "INVOCATION_ID=" + strings.Repeat("0a1b2c3d", 4),
		"NODE_OPTIONS=--max-old-space-size=4096 --no-warnings", "TARGET=x86_64-unknown-linux-gnu-2.35-node22", "CPATH=./node_modules/.bin/x64/a1b2c3d4e5f6",
		"NAME=TheQuickBrownFoxJumpsOverTheLazyDog", "OPTIONS=" + strings.Repeat("-", 100), "LIST=" + strings.Repeat("a1 ", 50), "EMPTY=", "WIN=C:\\Users\\Someone\\AppData",
		"MS_FOUNDRY=https://h/openai/deployments/gpt-5?api-version=2025-04-01-preview", "AZURE=https://h/?", "EMAIL=someone@example.com", "GO=go1.26.8", "BROKEN=https://%zz@/?&=&%",
	} {
		name, value, _ := strings.Cut(kv, "=")
		require.Empty(t, secretsOf(name, value), kv)
	}
}
