package session

import (
	"encoding/base64"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
)

// unquoted matches texts that need no quotes in any shell.
var unquoted = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

func FuzzHandle(f *testing.F) {
	for _, id := range []string{"0199abcd-0000-7000-8000-000000000001", "a", "/etc", "$(id)", "a b;c@d", "\x00\xff\n", "-x", "ü"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		for _, backend := range []string{"claude", "my.own-cli_2", "a."} {
			h := Handle{Backend: backend, ID: id}
			text := h.String()
			if id == "" {
				require.Empty(t, text)
				continue
			}
			require.Regexp(t, unquoted, text)
			got, ok := Parse(text)
			require.True(t, ok, text)
			require.Equal(t, h, got)
		}
		if h, ok := Parse(id); ok { // for arbitrary text
			require.Contains(t, []string{h.String(), h.Backend + ":" + h.ID}, id)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	id := base64.RawURLEncoding.EncodeToString([]byte("0199abcd"))
	for name, handle := range map[string]string{
		"none": "", "no backend": "." + id, "no id": "claude.", "a dot": ".", "no dot": "claude" + id,
		"plain id": "claude.0199-abcd_", "another alphabet": "claude.Pz8/", "padded": "claude.YQ==", "unpadded bits": "claude.YR",
		"line break in the handle": "claude.MDE\n5OWFiY2Q", "a blank": "claude." + id + " ", "upper case": "Claude." + id,
		"no backend before the colon": ":0199abcd", "no id after the colon": "claude:", "upper case before the colon": "Claude:0199abcd",
		"directory before the colon": "claude@/tmp/x:0199abcd", "directory as the backend": "claude@/tmp/x." + id,
		"directory after the handle": "claude." + id + "@/tmp/x", "amounts behind": "claude." + id + ";cost_usd=1",
	} {
		h, ok := Parse(handle)
		require.False(t, ok, "%s: %q", name, handle)
		require.Zero(t, h, name)
	}
}

// An id that the CLI printed follows a colon unchanged, and nothing else is derived from it.
func TestParseIDOfCLI(t *testing.T) {
	for text, want := range map[string]Handle{
		"claude:0199abcd":             {"claude", "0199abcd"},
		"my.own-cli_2:a:b.c":          {"my.own-cli_2", "a:b.c"},
		"claude:0199abcd@/tmp/x":      {"claude", "0199abcd@/tmp/x"},
		"claude:0199;cost_usd=1@/tmp": {"claude", "0199;cost_usd=1@/tmp"},
	} {
		h, ok := Parse(text)
		require.True(t, ok, text)
		require.Equal(t, want, h)
		again, ok := Parse(h.String())
		require.True(t, ok, text)
		require.Equal(t, want, again, "it has a handle of ours as well")
	}
	require.False(t, Takes(clispec.SessionRules{ID: "[0-9a-f]+"}, "0199abcd@/tmp/x"))
}

func TestTakes(t *testing.T) {
	hex := clispec.SessionRules{ID: "[0-9a-f]+"}
	for _, test := range []struct {
		rules clispec.SessionRules
		id    string
		want  bool
	}{
		{hex, "0a", true},
		{hex, "0a/", false},
		{hex, "x0a", false},
		{clispec.SessionRules{}, "any text", true},
		{clispec.SessionRules{}, "--help", false},
		{clispec.SessionRules{}, "a\x00b", false},
		{clispec.SessionRules{}, "\xff", false},
	} {
		require.Equal(t, test.want, Takes(test.rules, test.id), "%q", test.id)
	}
}
