package compose_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
)

// Show replaces all forms of a text by its size, and redacts secrets.
func TestShow(t *testing.T) {
	spec := clispec.Spec{
		Name: "mine", Binary: "mine", PassEnv: []string{"MINE_*"}, Transports: []clispec.Transport{clispec.TransportArgv},
		Files: []clispec.FileRow{{Field: "system", Name: "s.md", Content: "{system}"}},
		Args: []clispec.ArgRow{
			{Args: []string{"--json={prompt:json}", "--text=<{system_replace:text}>", "--file={system_file}", "--model", "{model}"}},
			{Args: []string{"{extra}"}, Each: "extra"}, {Args: []string{"--", "{prompt}"}},
		},
	}
	req := call.Request{Model: "m1", Messages: []call.Message{
		{Role: call.RoleSystem, Content: "quoted \"words\""}, {Role: call.RoleUser, Content: "-wörds"},
	}}
	req.Options.Extra = map[string][]string{"mine": {"--key=secret-value-of-a-test", "--flag"}}
	composer := compose.New(&spec, nil)
	inv, err := composer.Compose(req, compose.Choice{}, compose.Host{
		Dir: "/work", TempDir: "{temp}", Environ: []string{"MINE_KEY=secret-value-of-a-test"},
	})
	require.Nil(t, err)
	require.Contains(t, inv.Args, "-wörds")
	prompt := inv.Call.Fields["prompt"][0]
	composer.Show(inv)
	require.Equal(t, []string{
		`--json="[prompt of 7 bytes]"`, "--text=<[system_replace of 14 bytes]>", "--file={temp}/s.md", "--model", "m1",
		"--key=[redacted]", "--flag", "--", "[prompt of 7 bytes]",
	}, inv.Args)
	require.Equal(t, prompt, inv.Call.Fields["prompt"][0])
	require.Equal(t, `quoted "words"`, inv.Files[0].Content)
}
