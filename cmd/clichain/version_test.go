package main

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuildInfo(t *testing.T) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	main := debug.Module{Version: "v0.1.0"}
	for _, test := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"installed", &debug.BuildInfo{Main: main}, "clichain v0.1.0\ncommit: (unknown)\n"},
		{"no record", nil, "clichain (unknown)\ncommit: (unknown)\n"},
		{"a test", &debug.BuildInfo{}, "clichain (unknown)\ncommit: (unknown)\n"},
		{
			"a checkout", &debug.BuildInfo{Main: main, Settings: []debug.BuildSetting{setting("vcs.revision", "abc"), setting("vcs.modified", "false")}},
			"clichain v0.1.0\ncommit: abc\n",
		},
		{
			"with changes", &debug.BuildInfo{Main: main, Settings: []debug.BuildSetting{setting("vcs.revision", "abc"), setting("vcs.modified", "true")}},
			"clichain v0.1.0\ncommit: abc, modified\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			require.NoError(t, buildInfoOf(test.info).print(&out))
			require.Equal(t, test.want+"go: "+runtime.Version()+"\nplatform: "+platform+"\n", out.String())
		})
	}
}

// The command, its JSON and --version say the same.
func TestVersion(t *testing.T) {
	output := func(args ...string) string {
		var out bytes.Buffer
		a := &app{in: strings.NewReader(""), out: &out, err: &out, env: func(string) string { return "" }}
		require.Zero(t, run(context.Background(), a, args), out.String())
		return out.String()
	}
	first, _, _ := strings.Cut(output("version"), "\n")
	require.Equal(t, first+"\n", output("--version"))
	var b buildInfo
	require.NoError(t, json.Unmarshal([]byte(output("version", "--json")), &b))
	require.Equal(t, first, "clichain "+b.Version)
	require.Equal(t, runtime.Version(), b.Go)
	require.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, b.Platform)
}
