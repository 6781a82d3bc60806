package main

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/version"
	"github.com/stretchr/testify/require"
)

// The command, its JSON and --version must print the same version.
func TestVersion(t *testing.T) {
	output := func(args ...string) string {
		var out bytes.Buffer
		env := &console.Env{In: strings.NewReader(""), Out: &out, Err: &out, Getenv: func(string) string { return "" }}
		require.Zero(t, run(context.Background(), env, args), out.String())
		return out.String()
	}
	first, _, _ := strings.Cut(output("version"), "\n")
	require.Equal(t, first+"\n", output("--version"))
	var b version.Info
	require.NoError(t, json.Unmarshal([]byte(output("version", "--json")), &b))
	require.Equal(t, first, "clichain "+b.Version)
	require.Equal(t, runtime.Version(), b.Go)
	require.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, b.Platform)
}
