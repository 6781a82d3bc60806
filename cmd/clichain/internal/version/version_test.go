package version

import (
	"bytes"
	"runtime"
	"runtime/debug"
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
		{"no build info", nil, "clichain (unknown)\ncommit: (unknown)\n"},
		{"test binary", &debug.BuildInfo{}, "clichain (unknown)\ncommit: (unknown)\n"},
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
			require.NoError(t, of(test.info).Print(&out))
			require.Equal(t, test.want+"go: "+runtime.Version()+"\nplatform: "+platform+"\n", out.String())
		})
	}
}
