package semver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLess(t *testing.T) {
	for _, test := range []struct {
		name, low, high string
	}{
		{"numbers compare by value", "2.1.99", "2.1.329"},
		{"more numbers", "2.1", "2.1.1"},
		{"the first number decides", "1.99.99", "2.0"},
		{"leading zeros", "2026.08.25", "2026.8.26"},
		{"very long numbers", "1.99999999999999999999", "1.100000000000000000000"},
		{"version inside program output", "codex-cli 0.134.0", "codex-cli 0.169.0 (stable)"},
		{"v before the version", "v0.9.0", "0.10.0"},
		{"pre-release before its version", "0.170.0-alpha.3", "0.170.0"},
		{"pre-release after the previous version", "0.169.0", "0.170.0-alpha.3"},
		{"pre-releases by number", "0.170.0-alpha.9", "0.170.0-alpha.10"},
		{"pre-releases by number without a dot", "1.0.0-rc9", "1.0.0-rc10"},
		{"pre-releases by word", "1.0.0-alpha.9", "1.0.0-beta.1"},
		{"nightly builds by date", "0.62.0-nightly.20261101.ff", "0.62.0-nightly.20261119.0a"},
		{"shorter pre-release", "1.0.0-beta", "1.0.0-beta.1"},
		{"build of an earlier day", "2026.08.25-ffff", "2026.08.26-0000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.True(t, Less(test.low, test.high))
			require.False(t, Less(test.high, test.low))
		})
	}
}

func TestLessOfEqualVersions(t *testing.T) {
	for name, pair := range map[string][2]string{
		"the same":                   {"2.1.0", "2.1.0"},
		"missing zero":               {"2.1", "v2.1.0"},
		"builds of one version":      {"2026.08.25-abc", "2026.08.25-bcd"},
		"build and version":          {"0.169.0-linux-x64", "0.169.0"},
		"hash that resembles a word": {"1.0.0-dead", "1.0.0"},
		"no version":                 {"unknown", "2.1.0"},
		"empty texts":                {"", ""},
		"single numbers":             {"build 7", "2.1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			require.False(t, Less(pair[0], pair[1]))
			require.False(t, Less(pair[1], pair[0]))
		})
	}
}

func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"2.1.329 (Claude Code)": "2.1.329", "codex-cli 0.170.0-alpha.3": "0.170.0-alpha.3", "v1.2": "1.2",
		"2026.08.25-1f2e.": "2026.08.25-1f2e", "no version": "", "7": "",
	} {
		require.Equal(t, want, Find(text), "%q", text)
	}
}

func TestValid(t *testing.T) {
	for _, text := range []string{"2.1", "2.1.329", "v0.170.0-alpha.3", "2026.08.25-1f2e", "1.0.0+build.5", "1.0.0-rc.1+5"} {
		require.True(t, Valid(text), "%q", text)
	}
	for _, text := range []string{"", "2", "latest", ">=2.1", "2.1.x", "2.1.0 ", "2.1.0-", "version 2.1"} {
		require.False(t, Valid(text), "%q", text)
	}
}

func BenchmarkLess(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Less("0.169.0", "0.135.0")
	}
}
