package reserve_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

func TestModelList(t *testing.T) {
	t.Parallel()
	lines, names := specs.Codex(), specs.Codex()
	command := clispec.ListRule{Args: []string{"debug", "models"}}
	lines.Models.List = []clispec.ListRule{command}
	command.Path = `models.#(visibility=="list")#.slug`
	names.Models.List = []clispec.ListRule{command}
	described := specs.Codex()
	described.Models.List = []clispec.ListRule{
		{Args: []string{"list"}, Path: "data", Set: map[string]string{"name": "id", "title": "t", "default": "d", "efforts": "e.#.n", "default_effort": "de"}},
		{Args: []string{"more"}, Path: "models", Set: map[string]string{"name": "slug", "context": "window", "inputs": "in", "title": "other"}},
	}
	for name, test := range map[string]struct {
		spec   clichain.CliSpec
		play   clitest.Scenario
		want   []call.Model
		reason clichain.Reason
	}{
		"JSON": {names, clitest.Scenario{Cases: []clitest.Case{{Args: []string{"debug", "models"}, Steps: []clitest.Step{
			chaintest.Stdout("warning: hm\n" + `{"models":[{"slug":"b","visibility":"list"},{"slug":"x","visibility":"hide"},{"slug":"a","visibility":"list"}]}` + "\n")}}}}, []call.Model{{Name: "b"}, {Name: "a"}}, ""},
		"lines": {lines, chaintest.Play(chaintest.Stdout("\x1b[1mp/one\x1b[0m\np/two\n\n")), []call.Model{{Name: "p/one"}, {Name: "p/two"}}, ""},
		"with more from another source": {described, clitest.Scenario{Cases: []clitest.Case{
			{Args: []string{"list"}, Steps: []clitest.Step{chaintest.Stdout(`{"data":[{"id":"b","t":"B","d":true,"e":[{"n":"low"},{"n":"high"}],"de":"low"},{"id":"a"},{"t":"nameless"}]}` + "\n")}},
			{Args: []string{"more"}, Steps: []clitest.Step{chaintest.Stdout(`{"models":[{"slug":"a","window":1000,"in":["text"],"other":"A"},{"slug":"b","window":2000,"other":"C"},{"slug":"z"}]}` + "\n")}},
		}}, []call.Model{
			{Name: "b", Title: "B", Default: true, Efforts: []string{"low", "high"}, DefaultEffort: "low", Context: 2000},
			{Name: "a", Title: "A", Context: 1000, Inputs: []string{"text"}},
		}, ""},
		"one source fails": {described, clitest.Scenario{Cases: []clitest.Case{
			{Args: []string{"list"}, Steps: []clitest.Step{chaintest.Stdout(`{"data":[{"id":"b"}]}` + "\n")}}, {Args: []string{"more"}, Steps: []clitest.Step{clitest.Exit(4)}},
		}}, nil, clichain.ReasonExit},
		"no such command":   {specs.Cursor(), chaintest.Play(clitest.Exit(9)), nil, ""},
		"logged out":        {names, chaintest.Play(clitest.Step{Stderr: "Not logged in\n"}, clitest.Exit(1)), nil, clichain.ReasonUnauthenticated},
		"unexplained":       {names, chaintest.Play(clitest.Exit(3)), nil, clichain.ReasonExit},
		"another form":      {names, chaintest.Play(chaintest.Stdout(`{"list":[]}` + "\n")), nil, clichain.ReasonBadOutput},
		"words for JSON":    {names, chaintest.Play(chaintest.Stdout("gpt-5\n")), nil, clichain.ReasonBadOutput},
		"more than is read": {lines, chaintest.Play(clitest.Step{FloodStdout: 8 << 20}), nil, clichain.ReasonOutputLimit},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			models, err := chaintest.Provider(t, test.spec, clichain.Config{}, test.play).Models(t.Context())
			if test.reason != "" {
				chaintest.RequireReason(t, test.reason, err)
				require.Empty(t, models)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, models)
		})
	}
	t.Run("not installed", func(t *testing.T) {
		_, err := clichain.NewProvider(specs.Codex(), &clichain.Config{Binary: "/nonexistent/codex"}).Models(t.Context())
		chaintest.RequireReason(t, clichain.ReasonNotInstalled, err)
	})
}

// The caller's names override the spec's.
func TestModelAliases(t *testing.T) {
	t.Parallel()
	spec := specs.Codex()
	spec.Models.Aliases = map[string]string{"small": "gpt-5-mini", "big": "gpt-5"}
	record := t.TempDir() + "/record"
	p := chaintest.Provider(t, spec, clichain.Config{ModelAliases: map[string]string{"small": "gpt-6-nano", "ours": "o3"}},
		chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(chaintest.CodexAnswer("yes"))))
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
