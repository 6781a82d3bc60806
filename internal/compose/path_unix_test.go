//go:build unix

package compose

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCleanPath(t *testing.T) {
	for _, test := range []struct{ name, path, want string }{
		{"absolute", "/usr/bin:/bin", "/usr/bin:/bin"},
		{"the folder", "/usr/bin:.:/bin", "/usr/bin:/bin"},
		{"empty at the start", ":/bin", "/bin"},
		{"empty at the end", "/bin:", "/bin"},
		{"empty in the middle", "/usr/bin::/bin", "/usr/bin:/bin"},
		{"relative", "node_modules/.bin:./x:../y:~/bin:/bin", "/bin"},
		{"nothing remains", ".::bin", systemPath},
		{"empty", "", systemPath},
	} {
		t.Run(test.name, func(t *testing.T) {
			environ := []string{"A=.", "PATH=" + test.path, "MY_PATH=."}
			h := Host{Environ: environ, Env: []string{"PATH=" + test.path}}
			h.CleanPath()
			require.Equal(t, []string{"A=.", "PATH=" + test.want, "MY_PATH=."}, h.Environ)
			require.Equal(t, []string{"PATH=" + test.want}, h.Env)
			require.Equal(t, "PATH="+test.path, environ[1], "the caller's list")
		})
	}
	h := Host{Environ: []string{"A=."}}
	h.CleanPath()
	require.Equal(t, []string{"A=."}, h.Environ, "PATH is not set")
}
