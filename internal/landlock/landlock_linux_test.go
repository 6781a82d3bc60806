package landlock

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// system is what a shell and its programs need.
var system = []Rule{
	{Path: "/usr", Access: Read | Execute}, {Path: "/bin", Access: Read | Execute}, {Path: "/lib", Access: Read | Execute}, {Path: "/lib64", Access: Read | Execute},
	{Path: "/dev/null", Access: Read | Write},
}

// sh runs a script with the rules, and returns its exit code.
func sh(t *testing.T, rules []Rule, script string) int {
	t.Helper()
	if _, err := Usable(); err != nil {
		t.Skip(err)
	}
	code, err := exitCode(shell(append(rules, system...), script))
	require.NoError(t, err)
	return code
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
			code := sh(t, []Rule{{Path: dir, Access: test.access}}, test.script)
			require.Equal(t, test.allowed, code == 0, "exit code %d", code)
		})
	}
}

// An error of the program's file is reported as package os does.
func TestStartReportsErrors(t *testing.T) {
	if _, err := Usable(); err != nil {
		t.Skip(err)
	}
	attr := &os.ProcAttr{Sys: &syscall.SysProcAttr{}, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}}
	for path, want := range map[string]error{
		"/bin/none": syscall.ENOENT, "/etc/passwd": syscall.EACCES, "/bin/\x00": syscall.EINVAL,
	} {
		_, err := Start(path, []string{path}, attr, system, nil)
		require.ErrorIs(t, err, want, path)
	}
	attr.Dir = "/none"
	_, err := Start("/bin/true", []string{"true"}, attr, system, nil)
	require.ErrorIs(t, err, syscall.ENOENT)
}

func BenchmarkStart(b *testing.B) {
	attr := &os.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}}
	for name, start := range map[string]func() (*os.Process, error){
		"confined": func() (*os.Process, error) { return Start("/bin/true", []string{"true"}, attr, system, nil) },
		"free":     func() (*os.Process, error) { return os.StartProcess("/bin/true", []string{"true"}, attr) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p, err := start()
				require.NoError(b, err)
				_, err = p.Wait()
				require.NoError(b, err)
			}
		})
	}
}

func TestStartWithoutLinks(t *testing.T) {
	dir := t.TempDir()
	dir, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "real/sub"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real/sub/file"), []byte("x\n"), 0o600))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
	script := "read x <" + filepath.Join(dir, "real/sub/file")
	for path, allowed := range map[string]bool{"real": true, "link": false, "link/sub": false, "real/sub": true} {
		path = filepath.Join(dir, path)
		code := sh(t, []Rule{{Path: path, Access: Read, NoLinks: true}}, script)
		require.Equal(t, allowed, code == 0, path)
		require.Zero(t, sh(t, []Rule{{Path: path, Access: Read}}, script), "the rule follows links")
		fd, err := openCompared(path)
		require.Equal(t, allowed, err == nil, path)
		_ = unix.Close(fd)
	}
}
