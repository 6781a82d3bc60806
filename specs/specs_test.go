package specs_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

func TestIdentities(t *testing.T) {
	type identity struct{ name, binary, slug, model string }
	var got []identity
	for _, s := range specs.All() {
		got = append(got, identity{s.Name, s.Binary, s.ProviderSlug, s.DefaultModel})
	}
	require.Equal(t, []identity{
		{"claude", "claude", "anthropic-cli", "claude-desktop"},
		{"gemini", "gemini", "google-cli", "gemini-desktop"},
		{"cursor-agent", "cursor-agent", "cursor-cli", "cursor-desktop"},
		{"opencode", "opencode", "opencode", "opencode-default"},
		{"codex", "codex", "openai-cli", "codex-default"},
	}, got, "in the default fallback order")
}

// The specs outside the default chain follow those of the chain. Only the command uses them.
func TestEverySpec(t *testing.T) {
	all, every := specs.All(), specs.Every()
	require.Equal(t, all, every[:len(all)])
	var names []string
	for _, s := range every[len(all):] {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"qwen", "agy"}, names[len(names)-2:])
}

// Each program, provider slug and default model belongs to one backend. Otherwise a model name, SKIP_CLI or a report
// would be ambiguous.
func TestIdentitiesAreDistinct(t *testing.T) {
	for what, of := range map[string]func(clispec.Spec) []string{
		"binary":  func(s clispec.Spec) []string { return append([]string{s.Binary}, s.AltBinaries...) },
		"address": func(s clispec.Spec) []string { return slices.Compact([]string{s.Name, s.ProviderSlug}) },
		"model":   func(s clispec.Spec) []string { return []string{s.DefaultModel} },
	} {
		owner := map[string]string{}
		for _, s := range specs.Every() {
			for _, value := range of(s) {
				require.NotEmpty(t, value)
				require.Empty(t, owner[value], "%s %q of %s and %s", what, value, owner[value], s.Name)
				owner[value] = s.Name
			}
		}
	}
}

func TestByName(t *testing.T) {
	for _, want := range specs.Every() {
		got, ok := specs.ByName(want.Name)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	for _, name := range []string{"", "Claude", "anthropic-cli", "claude ", "nobody"} {
		got, ok := specs.ByName(name)
		require.False(t, ok, name)
		require.Zero(t, got)
	}
}

// Each call returns a new spec, which shares no slice or map with another.
func TestSpecsShareNoValues(t *testing.T) {
	for name, make := range map[string]func() clispec.Spec{
		"claude": specs.Claude, "gemini": specs.Gemini, "cursor-agent": specs.Cursor, "opencode": specs.OpenCode, "codex": specs.Codex,
		"copilot": specs.Copilot, "kimi": specs.Kimi,
		"qwen": specs.Qwen, "agy": specs.Agy,
	} {
		t.Run(name, func(t *testing.T) {
			want := make()
			require.Equal(t, name, want.Name)
			spoil(make())
			require.Equal(t, want, make())
			byName, _ := specs.ByName(name)
			spoil(byName)
			for _, s := range specs.Every() {
				spoil(s)
			}
			require.Equal(t, want, make())
		})
	}
}

// spoil overwrites all values that a copy of a spec could share with the original.
func spoil(s clispec.Spec) {
	when := func(w clispec.When) {
		fill(w.Set, "x")
		fill(w.Unset, "x")
		fill(w.Access, 9)
		fill(w.Output, "x")
		fill(w.Transport, "x")
	}
	for _, row := range s.Args {
		fill(row.Args, "x")
		when(row.When)
	}
	for _, row := range s.Env {
		when(row.When)
	}
	for _, row := range s.Files {
		when(row.When)
	}
	for _, rule := range s.Preflight {
		when(rule.When)
		fill(rule.UnlessEnv, "x")
	}
	for _, rule := range s.Events {
		rule.Match["x"] = "x"
		if rule.Set != nil {
			rule.Set["x"] = "x"
		}
	}
	for _, rule := range s.Lines {
		fill(rule.On, "x")
	}
	if s.ExitCodes != nil {
		s.ExitCodes[1] = "x"
	}
	s.Hints["x"] = "x"
	fill(s.Args, clispec.ArgRow{})
	fill(s.Env, clispec.EnvRow{})
	fill(s.Files, clispec.FileRow{})
	fill(s.Preflight, clispec.PreflightRule{})
	fill(s.Events, clispec.EventRule{})
	fill(s.Lines, clispec.LineRule{})
	fill(s.Guards, clispec.GuardRule{})
	fill(s.Outputs, "x")
	fill(s.Transports, "x")
	fill(s.Models.Accept, "x")
	for _, list := range [][]string{s.AltBinaries, s.PassEnv, s.DropEnv} {
		fill(list, "x")
	}
}

func fill[T any](list []T, value T) {
	for i := range list {
		list[i] = value
	}
}
