package clitest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

func TestReceived(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key-of-a-test")
	spec := specs.Codex()
	cli := NewRecorder(t, "codex", Answer(spec, "fine"))
	p := clichain.NewProvider(spec, &clichain.Config{Binary: cli.Path})
	_, err := p.Complete(t.Context(), clichain.Request{Messages: []clichain.Message{
		{Role: clichain.RoleSystem, Content: "Be brief about beetles."}, {Role: clichain.RoleUser, Content: "What is it?"},
	}})
	require.NoError(t, err)

	got := cli.Once()
	require.Equal(t, "exec", got.Args[0])
	require.Equal(t, "What is it?", got.Stdin)
	require.Equal(t, []string{"stdin"}, got.Where("What is it?"))
	require.Equal(t, []string{"env OPENAI_API_KEY"}, got.Where("key-of-a-test"))
	require.Equal(t, []string{"file system.md"}, got.Where("beetles"))
	require.Equal(t, "Be brief about beetles.", got.Files["system.md"])
	require.Contains(t, got.Where("analytics.enabled=false"), "args[4]")
	require.Contains(t, got.Dir, "codex")
	require.Empty(t, got.Where(""))
	require.Empty(t, got.Where("nowhere at all"))

	_, err = p.Complete(t.Context(), clichain.Prompt("And then?"))
	require.NoError(t, err)
	require.Equal(t, "And then?", cli.Received()[1].Stdin)
	failed := &failures{TB: t}
	cli.t = failed
	failed.run(func() { cli.Once() })
	require.Contains(t, failed.said, "codex was started 2 times, not once")
}

// The recorder also records the starts for which a scenario has cases.
func TestReceivedWithCases(t *testing.T) {
	t.Parallel()
	spec := specs.Codex()
	cli := NewRecorder(t, "codex", OverloadedThenOK(spec, "fine"))
	_, err := clichain.NewProvider(spec, &clichain.Config{Binary: cli.Path}).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Len(t, cli.Received(), 2)
}
