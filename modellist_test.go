package clichain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
)

func TestModelList(t *testing.T) {
	suppressNothing(t)
	lines := specs.Codex()
	lines.Models.List.Path = ""
	for name, test := range map[string]struct {
		spec   clichain.CliSpec
		play   clitest.Scenario
		want   []string
		reason clichain.Reason
	}{
		"JSON": {specs.Codex(), clitest.Scenario{Cases: []clitest.Case{{Args: []string{"debug", "models"}, Steps: []clitest.Step{
			stdout("warning: hm\n" + `{"models":[{"slug":"b","visibility":"list"},{"slug":"x","visibility":"hide"},{"slug":"a","visibility":"list"}]}` + "\n")}}}}, []string{"b", "a"}, ""},
		"lines":             {lines, play(stdout("\x1b[1mp/one\x1b[0m\np/two\n\n")), []string{"p/one", "p/two"}, ""},
		"no such command":   {specs.Claude(), play(clitest.Exit(9)), nil, ""},
		"logged out":        {specs.Codex(), play(clitest.Step{Stderr: "Not logged in\n"}, clitest.Exit(1)), nil, clichain.ReasonUnauthenticated},
		"unexplained":       {specs.Codex(), play(clitest.Exit(3)), nil, clichain.ReasonExit},
		"another form":      {specs.Codex(), play(stdout(`{"list":[]}` + "\n")), nil, clichain.ReasonBadOutput},
		"words for JSON":    {specs.Codex(), play(stdout("gpt-5\n")), nil, clichain.ReasonBadOutput},
		"more than is read": {lines, play(clitest.Step{FloodStdout: 8 << 20}), nil, clichain.ReasonOutputLimit},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			models, err := provider(t, test.spec, clichain.Config{}, test.play).Models(t.Context())
			if test.reason != "" {
				requireReason(t, test.reason, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, models)
		})
	}
	t.Run("not installed", func(t *testing.T) {
		_, err := clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: "/nonexistent/codex"}).Models(t.Context())
		requireReason(t, clichain.ReasonNotInstalled, err)
	})
}

// The caller's names win over the spec's.
func TestModelAliases(t *testing.T) {
	spec := specs.Codex()
	spec.Models.Aliases = map[string]string{"small": "gpt-5-mini", "big": "gpt-5"}
	record := t.TempDir() + "/record"
	p := provider(t, spec, clichain.Config{ModelAliases: map[string]string{"small": "gpt-6-nano", "ours": "o3"}},
		play(clitest.Step{Record: record}, stdout(codexAnswer("yes"))))
	for alias, model := range map[string]string{"small": "gpt-6-nano", "ours": "o3", "big": "gpt-5", "codex/ours": "o3"} {
		req := clichain.Prompt("hi")
		req.Model = alias
		_, err := p.Complete(t.Context(), req)
		require.NoError(t, err)
		ran, err := clitest.ReadRecord(record)
		require.NoError(t, err)
		require.Contains(t, ran.Args, model, alias)
	}
	require.Equal(t, map[string]string{"small": "gpt-5-mini", "big": "gpt-5"}, spec.Models.Aliases, "the spec is the caller's")
}
