package clichain_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

func FuzzSuppress(f *testing.F) {
	for _, seed := range []string{"1", "TRUE", " yes ", "claude,gemini", "0", "", "all,claude", "on;", "cursor-agent\n"} {
		f.Add(seed, "claude")
	}
	f.Fuzz(func(t *testing.T, value, name string) {
		if strings.ContainsRune(value, 0) {
			return // no environment variable has such a value
		}
		chaintest.SuppressNothing(t)
		t.Setenv("SKIP_CLI", value)
		_, named := clichain.SuppressedBy(name)
		all := clichain.Suppressed()
		if all && !named {
			t.Fatalf("%q turns off everything but %q", value, name)
		}
		words := strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return strings.ContainsRune(",; \t\r\n\"'`“”‘’", r) })
		if slices.Contains(words, strings.ToLower(name)) && !named {
			t.Fatalf("%q does not turn off %q", value, name)
		}
		for _, word := range []string{"1", "true", "yes", "on", "all"} {
			if slices.Contains(words, word) && !all {
				t.Fatalf("%q does not turn off everything", value)
			}
		}
	})
}

func TestSuppression(t *testing.T) {
	const none, claude, all = "none", "claude only", "all"
	for _, test := range []struct{ value, want string }{
		{"1", all}, {"true", all}, {"yes", all}, {"on", all}, {"all", all},
		{"TRUE", all}, {"Yes", all}, {"oN", all}, {" 1 ", all}, {"\ttrue\n", all}, {"1,", all},
		{"", none}, {"0", none}, {"false", none}, {"no", none}, {"off", none}, {"  ", none}, {",", none},
		{"2", all}, {"11", all}, {"truey", all}, {"ture", all},
		{"claude", claude}, {"CLAUDE", claude}, {" Claude ", claude}, {"anthropic-cli", claude},
		{"nobody,claude", claude}, {"claude;nobody", claude}, {"nobody claude", claude}, {"nobody,\n claude,", claude},
		{"nobody", none}, {"claudette", claude}, {"clau", claude}, {"claude-", claude}, {"claude.cli", claude}, {"cluade", claude},
		{`"1"`, all}, {`'1'`, all}, {`" 1 "`, all}, {`"true"`, all}, {`"1`, all}, {`“1”`, all}, {"`1`", all},
		{`""`, none}, {`"0"`, none}, {`"claude"`, claude}, {`"claude,nobody"`, claude}, {`"nobody","claude"`, claude}, {`'claude nobody'`, claude},
		{`"anthropic-cli"`, claude}, {"0,claude", claude}, {"1,claude", all}, {"all,nobody", all}, {"codex,true", all},
	} {
		t.Run(test.value, func(t *testing.T) {
			for _, variable := range chaintest.Suppressors {
				chaintest.SuppressNothing(t)
				t.Setenv(variable, test.value)
				require.Equal(t, test.want == all, clichain.Suppressed())
				for _, name := range []string{"claude", "anthropic-cli", "gemini"} {
					by, ok := clichain.SuppressedBy(name)
					want := test.want == all || test.want == claude && name == "claude" ||
						strings.Contains(test.value, "anthropic-cli") && name == "anthropic-cli"
					require.Equal(t, want, ok, "%s by %s", name, variable)
					if ok {
						require.Equal(t, variable, by)
					}
				}
				requireSuppressed(t, clichain.CliSpec{Name: "claude", ProviderSlug: "anthropic-cli", Binary: "x"}, test.want != none, variable)
				requireSuppressed(t, clichain.CliSpec{Name: "gemini", ProviderSlug: "google-cli", Binary: "x"}, test.want == all, variable)
			}
		})
	}
}

// requireSuppressed checks what a Provider says, by name or by slug.
func requireSuppressed(t *testing.T, spec clichain.CliSpec, want bool, variable string) {
	t.Helper()
	for _, err := range []error{
		clichain.NewProvider(spec, &clichain.Config{Binary: "/nowhere"}).Available(t.Context()),
		second(clichain.NewProvider(spec, &clichain.Config{Binary: "/nowhere"}).Complete(t.Context(), clichain.Prompt("P"))),
	} {
		if !want {
			require.ErrorIs(t, err, clichain.ErrNotInstalled)
			continue
		}
		require.ErrorIs(t, err, clichain.ErrSuppressed)
		require.ErrorContains(t, err, "suppressed by "+variable+"=")
		require.ErrorContains(t, err, "unset "+variable)
	}
}

// SKIP_CLI suppresses a backend by its name and by the slug of its spec. SuppressedBy reports the backend's name.
func TestSuppressedByAgreesWithTheBackend(t *testing.T) {
	work := chaintest.Named(specs.Claude(), "owl-work")
	work.InstanceOf = "claude"
	for _, spec := range append(specs.Every(), work, clichain.CliSpec{Name: "owl", ProviderSlug: "owl-cli", Binary: "owl"}) {
		p := clichain.NewProvider(spec, &clichain.Config{Binary: "/nowhere"})
		for _, word := range []string{spec.Name, spec.ProviderSlug, spec.InstanceOf, `"` + spec.ProviderSlug + `"`, "nobody", "opencode"} {
			chaintest.SuppressNothing(t)
			t.Setenv("LLM_HERE_SKIP_CLI", word)
			_, ok := clichain.SuppressedBy(spec.Name)
			require.Equal(t, errors.Is(p.Available(t.Context()), clichain.ErrSuppressed), ok, "%s by %q", spec.Name, word)
			require.Equal(t, word == "", !ok && word != "nobody" && word != "opencode", "%s by %q", spec.Name, word)
		}
	}
}

func TestSuppressionPrecedence(t *testing.T) {
	for first := range chaintest.Suppressors {
		chaintest.SuppressNothing(t)
		for _, variable := range chaintest.Suppressors[first:] {
			t.Setenv(variable, "on")
		}
		by, ok := clichain.SuppressedBy("claude")
		require.True(t, ok)
		require.Equal(t, chaintest.Suppressors[first], by)
	}
	chaintest.SuppressNothing(t)
	t.Setenv("SKIP_CLI", "0")
	t.Setenv("LLM_HERE_SKIP_CLI", "1")
	by, ok := clichain.SuppressedBy("claude")
	require.True(t, ok, "a variable that says no does not outvote one that says yes")
	require.Equal(t, "LLM_HERE_SKIP_CLI", by)
}

func TestSuppressedByNobody(t *testing.T) {
	chaintest.SuppressNothing(t)
	t.Setenv("SKIP_CLI", "claude")
	_, ok := clichain.SuppressedBy("")
	require.False(t, ok)
	_, ok = clichain.SuppressedBy("Claude")
	require.True(t, ok, "the case of the name does not matter either")
}

// The value comes from another program: it must not break a log line.
func TestSuppressionMessageIsOneLine(t *testing.T) {
	chaintest.SuppressNothing(t)
	t.Setenv("SKIP_CLI", "claude,\n\x1b[31mgemini")
	err := clichain.NewProvider(specs.Claude(), nil).Available(t.Context())
	require.ErrorIs(t, err, clichain.ErrSuppressed)
	requireOneLine(t, err.Error())
}

// A mistake in the list is reported with the suppressed backend, and as a warning with the answer of another backend.
func TestSuppressionDoubts(t *testing.T) {
	chaintest.SuppressNothing(t)
	claude, codex := specs.Claude(), specs.Codex()
	kept := chaintest.Provider(t, clichain.CliSpec{Name: "kept", Binary: "kept"}, clichain.Config{}, chaintest.Play(chaintest.Stdout("hello")))
	chain := clichain.ChainOf([]clichain.Backend{clichain.NewProvider(claude, nil), kept}, nil)

	t.Setenv("SKIP_CLI", "cluade,zebra")
	resp, err := chain.Complete(t.Context(), clichain.Prompt("P"))
	require.NoError(t, err)
	require.Equal(t, "kept", resp.Backend)
	require.ErrorIs(t, resp.Attempts[0].Err, clichain.ErrSuppressed)
	require.ErrorContains(t, resp.Attempts[0].Err, `suppressed by SKIP_CLI=cluade,zebra: "cluade" is not a backend name, which resembles this backend`)
	require.Equal(t, []string{
		`SKIP_CLI: "cluade" is not a backend name: claude is turned off`,
		`SKIP_CLI: "zebra" is not a backend name: no backend is turned off`,
	}, resp.Warnings)

	t.Setenv("SKIP_CLI", "1,codex")
	err = clichain.NewProvider(claude, nil).Available(t.Context())
	require.ErrorContains(t, err, `"1" is mixed with backend names`)
	require.ErrorContains(t, clichain.NewProvider(codex, nil).Available(t.Context()), "suppressed by SKIP_CLI=1,codex [")
	require.Equal(t, []string{`SKIP_CLI: "1" is mixed with backend names: all backends are turned off`}, clichain.NewProvider(codex, nil).Status("").Doubts)

	t.Setenv("SKIP_CLI", "codex")
	resp, err = kept.Complete(t.Context(), clichain.Prompt("P"))
	require.NoError(t, err)
	require.Empty(t, resp.Warnings)
	require.Empty(t, clichain.NewProvider(codex, nil).Status("").Doubts)
}

func requireOneLine(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		require.False(t, unicode.IsControl(r) || r == '\u2028' || r == '\u2029', "%q in %q", r, text)
	}
}
