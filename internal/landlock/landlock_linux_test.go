package landlock

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// system is what a shell and its programs need.
var system = []Rule{
	{"/usr", Read | Execute}, {"/bin", Read | Execute}, {"/lib", Read | Execute}, {"/lib64", Read | Execute},
	{"/dev/null", Read | Write},
}

// sh runs a script with the rules, and returns its exit code.
func sh(t *testing.T, rules []Rule, script string) int {
	t.Helper()
	if _, err := Usable(); err != nil {
		t.Skip(err)
	}
	p, err := Start("/bin/sh", []string{"sh", "-c", script}, &os.ProcAttr{
		Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{},
	}, append(rules, system...), nil)
	require.NoError(t, err)
	state, err := p.Wait()
	require.NoError(t, err)
	return state.ExitCode()
}

func TestStartConfines(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	for _, test := range []struct {
		name, script string
		access       Access
		allowed      bool
	}{
		{"read without a right", "read x <" + file, 0, false},
		{"read with the right", "read x <" + file + " || true", Read, true},
		{"write with the right to read", ": >" + file, Read, false},
		{"create with the right to read", ": >" + dir + "/new", Read, false},
		{"remove with the right to read", "rm " + file, Read, false},
		{"execute with the right to read", "cp /bin/true " + dir + "/x && " + dir + "/x", Read | Write, false},
		{"write through a link", ": >" + link + "/through", Read, false},
		{"rename", "mv " + file + " " + dir + "/b && mv " + dir + "/b " + file, Read | Write, true},
		{"create and execute", "cp /bin/true " + dir + "/x && " + dir + "/x", Read | Write | Execute, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			code := sh(t, []Rule{{dir, test.access}}, test.script)
			require.Equal(t, test.allowed, code == 0, "exit code %d", code)
		})
	}
}
