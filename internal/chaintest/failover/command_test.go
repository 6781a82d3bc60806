package failover_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/runs"
	"github.com/clichain/clichain/specs"
)

// Command returns exactly what a call would start, except for texts and secrets, and starts nothing.
func TestCommand(t *testing.T) {
	clitest.NoLeaks(t)
	state := chaintest.FreshState(t)
	t.Setenv("TMPDIR", t.TempDir())
	record := filepath.Join(t.TempDir(), "record")
	const secret = "secret-value-of-a-test"
	cfg := clichain.Config{Env: []string{"ANTHROPIC_API_KEY=" + secret}}
	p := chaintest.Provider(t, specs.Claude(), cfg, chaintest.ClaudeSays(record, "yes"))
	req := clichain.Request{Model: "opus", Messages: []clichain.Message{chaintest.System("Be brief."), {Role: clichain.RoleUser, Content: "the question"}}}
	req.Options.Extra = map[string][]string{"claude": {"--debug", "key=" + secret}}

	c, err := p.Command(t.Context(), req)
	require.NoError(t, err)
	require.NoFileExists(t, record)
	require.NoDirExists(t, c.Dir, "which a call makes")
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left)
	require.True(t, strings.HasPrefix(c.Dir, state) && c.Empty)
	require.Equal(t, len("the question"), c.Stdin)
	require.Equal(t, []runs.File{{Path: filepath.Join("{temp}", "system.md"), Size: len("Be brief.")}}, c.Files)
	require.Equal(t, []string{"opus", "stream", "stdin"}, []string{c.Model, c.Output, c.Transport})
	data, err := json.Marshal(c)
	require.NoError(t, err)
	for _, kept := range []string{"Be brief.", "the question", secret} {
		require.NotContains(t, string(data), kept)
	}

	_, err = p.Complete(t.Context(), req)
	require.NoError(t, err)
	ran, err := clitest.ReadRecord(record)
	require.NoError(t, err)
	require.Equal(t, c.Dir, ran.Dir)
	var names []string
	for _, kv := range ran.Env {
		if name, _, _ := strings.Cut(kv, "="); name != proc.CookieName { // the mark of a run
			names = append(names, name)
		}
	}
	require.ElementsMatch(t, names, c.Env)
	require.Equal(t, c.Path, ran.Args[0])
	require.Len(t, ran.Args[1:], len(c.Args))
	for i, arg := range ran.Args[1:] {
		arg = strings.ReplaceAll(arg, secret, "[redacted]")
		if strings.HasSuffix(arg, "system.md") {
			arg = filepath.Join("{temp}", "system.md")
		}
		require.Equal(t, arg, c.Args[i])
	}
}

// A text in an argument is replaced by its size.
func TestCommandWithThePromptInIt(t *testing.T) {
	t.Parallel()
	p := chaintest.Provider(t, specs.Cursor(), clichain.Config{}, chaintest.Play(clitest.Exit(1)))
	c, err := p.Command(t.Context(), clichain.Prompt("the question"))
	require.NoError(t, err)
	require.Contains(t, c.Args, "[prompt of 12 bytes]")
	require.NotContains(t, strings.Join(c.Args, " "), "question")
	require.Zero(t, c.Stdin)

	_, err = clichain.NewProvider(specs.Cursor(), &clichain.Config{Binary: "/nonexistent"}).Command(t.Context(), clichain.Prompt("hi"))
	chaintest.RequireReason(t, clichain.ReasonNotInstalled, err)
	_, err = p.Command(t.Context(), clichain.Prompt(""))
	chaintest.RequireReason(t, clichain.ReasonBadOption, err)
}

// The command of a CLI in a container is the command of the runtime's client.
func TestCommandInAContainer(t *testing.T) {
	t.Parallel()
	cfg := &clichain.Config{Container: &clichain.Container{Runtime: clitest.Fake(t, "docker", chaintest.Play(clitest.Exit(1))), Name: "box"}}
	c, err := clichain.NewProvider(specs.Codex(), cfg).Command(t.Context(), clichain.Prompt("the question"))
	require.NoError(t, err)
	require.Equal(t, "docker", filepath.Base(c.Path))
	require.Equal(t, []string{"exec", "-i"}, c.Args[:2])
	require.Contains(t, c.Args, "box")
	require.NotContains(t, strings.Join(c.Args, " "), "question")
}

// A chain skips a backend that is in cooldown, or whose model differs, without asking it.
func TestChainCheck(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "x")
	claude := chaintest.Provider(t, specs.Claude(), clichain.Config{}, chaintest.Play(clitest.Exit(1)))
	codex := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(clitest.Exit(1)))
	own := clichain.BackendFunc("own", func(context.Context, clichain.Request) (*clichain.Response, error) { return nil, nil })
	store := cooldown.NewMemory()
	chain := clichain.ChainOf([]clichain.Backend{claude, codex, own}, &clichain.ChainConfig{Store: store})
	req := clichain.Prompt("hi")
	for _, b := range chain.Backends() {
		require.NoError(t, chain.Check(t.Context(), b, req))
	}
	req.Model = "chain/codex/gpt-5"
	require.NoError(t, chain.Check(t.Context(), codex, req))
	for _, b := range []clichain.Backend{claude, own} {
		require.ErrorContains(t, chain.Check(t.Context(), b, req), `"codex/gpt-5" belongs to codex`)
	}
	req = clichain.Prompt("hi")
	req.Options.MaxTurns = 3
	require.NoError(t, chain.Check(t.Context(), claude, req))
	require.ErrorIs(t, chain.Check(t.Context(), codex, req), clichain.ErrUnsupported)

	require.NoError(t, store.Update(t.Context(), "own", chaintest.Put(cooldown.State{Reason: clichain.ReasonUsageLimit, At: time.Now(), Until: time.Now().Add(time.Hour)})))
	require.ErrorIs(t, chain.Check(t.Context(), own, clichain.Prompt("hi")), clichain.ErrCoolingDown)
	t.Setenv("SKIP_CLI", "codex")
	require.ErrorIs(t, chain.Check(t.Context(), codex, clichain.Prompt("hi")), clichain.ErrSuppressed)
	require.NoError(t, new(clichain.Chain).Check(t.Context(), claude, clichain.Prompt("hi")))
}
