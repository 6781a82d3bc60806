package machine

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// put writes a file, with its directories, and returns its path.
func put(t testing.TB, path, content string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o700))
	return path
}

func link(t testing.TB, to, path string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.Symlink(to, path))
	if _, err := os.Lstat(path); err != nil {
		t.Skip("wine makes no symbolic links")
	}
	return path
}

const ours = `{"name": "@acme/agent", "version": "2.1.0"}`

func TestInstalledVersion(t *testing.T) {
	for _, test := range []struct {
		name    string
		arrange func(t *testing.T, dir string) (program string)
		want    string
	}{
		{"a link of npm", func(t *testing.T, dir string) string {
			put(t, dir+"/lib/node_modules/@acme/agent/package.json", ours)
			put(t, dir+"/lib/node_modules/@acme/agent/dist/bin/agent.js", "")
			return link(t, "../lib/node_modules/@acme/agent/dist/bin/agent.js", dir+"/bin/agent")
		}, "2.1.0"},
		{"a link to a link", func(t *testing.T, dir string) string {
			put(t, dir+"/store/agent/package.json", ours)
			link(t, put(t, dir+"/store/agent/agent.js", ""), dir+"/node_modules/.bin/agent")
			return link(t, dir+"/node_modules/.bin/agent", dir+"/bin/agent")
		}, "2.1.0"},
		{"a package.json without a version in between", func(t *testing.T, dir string) string {
			put(t, dir+"/agent/package.json", ours)
			put(t, dir+"/agent/dist/package.json", `{"type": "module"}`)
			return put(t, dir+"/agent/dist/agent", "")
		}, "2.1.0"},
		{"a pre-release", func(t *testing.T, dir string) string {
			put(t, dir+"/agent/package.json", `{"name": "@acme/agent", "version": "2.2.0-beta.1"}`)
			return put(t, dir+"/agent/agent", "")
		}, "2.2.0-beta.1"},
		{"a file named after its version", func(t *testing.T, dir string) string {
			return link(t, put(t, dir+"/share/agent/versions/2.0.7", ""), dir+"/bin/agent")
		}, "2.0.7"},
		{"a directory named after its version", func(t *testing.T, dir string) string {
			return link(t, put(t, dir+"/share/agent/versions/2026.08.25-1f2e/agent", ""), dir+"/bin/agent")
		}, "2026.08.25-1f2e"},
		{"a link that leads out of its package", func(t *testing.T, dir string) string {
			put(t, dir+"/agent/package.json", ours)
			return link(t, put(t, dir+"/shared/agent-of-all", ""), dir+"/agent/bin/agent")
		}, "2.1.0"},
		{"a script in the package of another program", func(t *testing.T, dir string) string {
			put(t, dir+"/node_modules/wrapper/package.json", `{"name": "wrapper", "version": "9.9.9"}`)
			return put(t, dir+"/node_modules/wrapper/agent", "#!/bin/sh\nexec agent \"$@\"\n")
		}, ""},
		{"a script among the versions of an interpreter", func(t *testing.T, dir string) string {
			return put(t, dir+"/.pyenv/versions/3.12.1/bin/agent", "#!/bin/sh\n")
		}, ""},
		{"a versions directory with a name in it", func(t *testing.T, dir string) string {
			return put(t, dir+"/versions/current/agent", "")
		}, ""},
		{"a malformed package.json", func(t *testing.T, dir string) string {
			put(t, dir+"/agent/package.json", `{"name": "@acme/agent", "version": `)
			return put(t, dir+"/agent/agent", "")
		}, ""},
		{"a package.json that is a directory", func(t *testing.T, dir string) string {
			put(t, dir+"/agent/package.json/x", "")
			return put(t, dir+"/agent/agent", "")
		}, ""},
		{"an invalid version", func(t *testing.T, dir string) string {
			put(t, dir+"/agent/package.json", `{"name": "@acme/agent", "version": "latest"}`)
			return put(t, dir+"/agent/agent", "")
		}, ""},
		{"a package far above", func(t *testing.T, dir string) string {
			put(t, dir+"/package.json", ours)
			return put(t, dir+"/1/2/3/4/5/6/7/8/agent", "")
		}, ""},
		{"no file", func(_ *testing.T, dir string) string { return dir + "/agent" }, ""},
		{"a dangling link", func(t *testing.T, dir string) string { return link(t, "nowhere", dir+"/agent") }, ""},
		{"a cached version", func(t *testing.T, dir string) string {
			program := put(t, dir+"/bin/agent", "")
			said := OpenVersions("")
			said.Put(program, "agent 2.0.1 (stable)")
			said.Save(t.Context())
			return program
		}, "2.0.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			i := Installed{Packages: []string{"acme", "@acme/agent"}}
			require.Equal(t, test.want, i.Version(test.arrange(t, t.TempDir())))
		})
	}
}

// Without package names, no package.json belongs to the program.
func TestInstalledVersionWithoutPackages(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	put(t, dir+"/package.json", ours)
	require.Empty(t, new(Installed).Version(put(t, dir+"/agent", "")))
}

// An answer is cached until the file changes.
func TestInstalledVersionIsCached(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	file, program := put(t, dir+"/package.json", ours), put(t, dir+"/agent", "")
	i := Installed{Packages: []string{"@acme/agent"}}
	require.Equal(t, "2.1.0", i.Version(program))
	require.NoError(t, os.Remove(file))
	i.when = time.Now()
	require.Equal(t, "2.1.0", i.Version(program), "the version was cached")
	require.NoError(t, os.Chtimes(program, time.Time{}, time.Unix(1, 0)))
	require.Empty(t, i.Version(program), "the program has changed")
	put(t, file, ours)
	i.when = time.Now().Add(-time.Hour)
	require.Equal(t, "2.1.0", i.Version(program), "the package.json may have changed")
}

func TestDrift(t *testing.T) {
	for name, test := range map[string]struct{ version, checked, want string }{
		"newer":                      {"agent 2.2.0 (stable)", "2.1.0", "2.2.0 is newer than 2.1.0, with which its spec was checked"},
		"equal":                      {"2.1.0", "2.1.0", ""},
		"older":                      {"2.0.9", "2.1.0", ""},
		"unknown":                    {"", "2.1.0", ""},
		"never checked":              {"2.1.0", "", ""},
		"another build":              {"2026.08.25-2f", "2026.08.25-1f", ""},
		"preview of a newer version": {"0.62.0-preview.0", "0.61.0", "0.62.0-preview.0 is newer than 0.61.0, with which its spec was checked"},
	} {
		require.Equal(t, test.want, Drift(test.version, test.checked), name)
	}
}

// BenchmarkInstalled measures the lookup of the version for a call.
func BenchmarkInstalled(b *testing.B) {
	b.Setenv("XDG_CACHE_HOME", b.TempDir())
	dir := b.TempDir()
	put(b, dir+"/node_modules/@acme/agent/package.json", ours)
	put(b, dir+"/node_modules/@acme/agent/bin/agent", "")
	program := link(b, "../node_modules/@acme/agent/bin/agent", dir+"/bin/agent")
	i := Installed{Packages: []string{"@acme/agent"}}
	b.Run("kept", func(b *testing.B) {
		for b.Loop() {
			i.Version(program)
		}
	})
	b.Run("looked up", func(b *testing.B) {
		for b.Loop() {
			i.when = time.Time{}
			i.Version(program)
		}
	})
}
