package failover_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

func TestAvailable(t *testing.T) {
	spec := clichain.CliSpec{Name: "mini", Binary: "mini", ProviderSlug: "mini-cli"}
	require.NoError(t, chaintest.Provider(t, spec, clichain.Config{}, chaintest.Play()).Available(t.Context()))
	t.Run("not installed", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		err := clichain.NewProvider(spec, nil).Available(t.Context())
		require.ErrorIs(t, err, clichain.ErrNotInstalled)
	})
	t.Run("suppressed", func(t *testing.T) {
		t.Setenv("SKIP_CLI", "other, MINI")
		p := chaintest.Provider(t, spec, clichain.Config{}, chaintest.Play())
		require.ErrorIs(t, p.Available(t.Context()), clichain.ErrSuppressed)
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorContains(t, err, "suppressed by SKIP_CLI")
	})
	t.Run("invalid spec", func(t *testing.T) {
		err := clichain.NewProvider(clichain.CliSpec{Name: "mini"}, nil).Available(t.Context())
		be := chaintest.RequireReason(t, clichain.ReasonBadOption, err)
		require.Contains(t, be.Message, "binary")
	})
	t.Run("a relative PATH entry is never used", func(t *testing.T) {
		dir := filepath.Dir(clitest.Fake(t, "mini", chaintest.Play()))
		t.Chdir(dir)
		t.Setenv("PATH", ".")
		require.ErrorIs(t, clichain.NewProvider(spec, nil).Available(t.Context()), clichain.ErrNotInstalled)
	})
	t.Run("an uninstalled program is noticed at once", func(t *testing.T) {
		path := clitest.Fake(t, "mini", chaintest.Play())
		p := clichain.NewProvider(spec, &clichain.Config{Binary: path})
		require.NoError(t, p.Available(t.Context()))
		require.NoError(t, os.Remove(path))
		require.ErrorIs(t, p.Available(t.Context()), clichain.ErrNotInstalled)
	})
}

// Check returns the error that a call would return, and starts nothing.
func TestCheck(t *testing.T) {
	t.Setenv("CLAUDECODE", "")
	t.Setenv("ANTHROPIC_API_KEY", "loopback")
	record := filepath.Join(t.TempDir(), "record")
	p := chaintest.Provider(t, specs.Claude(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(chaintest.ResultLine("yes")+"\n")))
	strict := chaintest.Provider(t, specs.Claude(), clichain.Config{RefuseNested: true}, chaintest.Play(clitest.Step{Record: record}))
	for name, test := range map[string]struct {
		p      *clichain.Provider
		change func(*clichain.Request)
		reason clichain.Reason
	}{
		"nothing wrong":   {p, func(*clichain.Request) {}, ""},
		"unknown model":   {p, func(r *clichain.Request) { r.Model = "gpt-5" }, clichain.ReasonModelMismatch},
		"foreign pin":     {p, func(r *clichain.Request) { r.Model = "claude/gpt-5" }, clichain.ReasonModelMismatch},
		"foreign session": {p, func(r *clichain.Request) { r.Session = "codex.eA" }, clichain.ReasonUnsupported},
		"access":          {p, func(r *clichain.Request) { r.Dir = t.TempDir() }, clichain.ReasonBadOption},
		"no such folder":  {p, func(r *clichain.Request) { r.Dir, r.Access = "/nowhere", clichain.AccessRead }, clichain.ReasonBadOption},
		"no schema":       {p, func(r *clichain.Request) { r.Schema = json.RawMessage(`{"type":"nonsense"}`) }, clichain.ReasonBadOption},
		"remote schema":   {p, func(r *clichain.Request) { r.Schema = json.RawMessage(`{"$ref":"https://example.com/s"}`) }, clichain.ReasonBadOption},
		"name twice":      {p, func(r *clichain.Request) { r.Schema = json.RawMessage(`{"type":"object","type":"string"}`) }, clichain.ReasonBadOption},
		"no JSON":         {p, func(r *clichain.Request) { r.Schema = json.RawMessage(`{`) }, clichain.ReasonBadOption},
		"a schema":        {p, func(r *clichain.Request) { r.Schema = json.RawMessage(`{"items":{"$ref":"#"}}`) }, ""},
		"uncommon schema": {p, func(r *clichain.Request) { r.Schema = json.RawMessage(`{"$ref":"#"}`) }, clichain.ReasonBadOption}, // without fullschema
		"nested session":  {strict, func(*clichain.Request) {}, clichain.ReasonNestedSession},
		"no program":      {clichain.NewProvider(specs.Claude(), &clichain.Config{Binary: "/nowhere/claude"}), func(*clichain.Request) {}, clichain.ReasonNotInstalled},
	} {
		t.Run(name, func(t *testing.T) {
			req := clichain.Prompt("hi")
			test.change(&req)
			err := test.p.Check(t.Context(), req)
			require.NoFileExists(t, record)
			if test.reason == "" {
				require.NoError(t, err)
				return
			}
			checked := chaintest.RequireReason(t, test.reason, err)
			_, err = test.p.Command(t.Context(), req)
			require.EqualError(t, err, checked.Error())
			require.Equal(t, "claude", checked.Backend)
			_, err = test.p.Complete(t.Context(), req)
			require.EqualError(t, err, checked.Error())
			require.NoFileExists(t, record)
		})
	}
	path, err := p.Program()
	require.NoError(t, err)
	require.Equal(t, p.Config().Binary, path)
	model, ok := p.Model("claude/opus")
	require.True(t, ok)
	require.Equal(t, "opus", model)
	_, ok = p.Model("claude/gpt-5")
	require.False(t, ok)
	_, ok = (&clichain.Provider{}).Model("opus")
	require.False(t, ok)
}
