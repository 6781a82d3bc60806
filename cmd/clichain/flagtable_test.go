package main

import (
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/stretchr/testify/require"
)

// Each command must have every flag of the table, unless the table has a reason for its absence.
func TestCommandsHaveTableFlags(t *testing.T) {
	env := &console.Env{Getenv: func(string) string { return "" }}
	root := newRoot(env)
	for _, command := range param.Commands {
		path := []string{command}
		if command == param.Submit {
			path = []string{"queue", command}
		}
		cmd, _, err := root.Find(path)
		require.NoError(t, err)
		for _, f := range param.Table {
			if f.Without[command] == "" {
				require.NotNil(t, cmd.Flags().Lookup(f.Name), "%s has no --%s", command, f.Name)
			} else if f.Name != "budget" { // the --budget of batch is for all lines together
				require.Nil(t, cmd.Flags().Lookup(f.Name), "%s has --%s, and the table a reason why not", command, f.Name)
			}
		}
	}
}
