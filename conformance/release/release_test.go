package release_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module = "github.com/clichain/clichain"
	root   = "../.." // of the checkout
)

// published are the directories of the modules that users install. Each module comes after the modules that it
// requires.
var published = []string{".", "jetstream", "otel", "hosttools", "batch", "cmd/clichain"}

// read returns the text of the file at a path.
func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	require.NoError(t, err)
	return string(text)
}

var releaseFlag = flag.Bool("release", false, "make a release of this checkout, and install it")

func TestReleaseIsRefused(t *testing.T) {
	r := newRelease(t)
	for version, want := range map[string]string{
		"":        `release: "" is no version`,
		"v2.0.0":  `release: "v2.0.0" is no version`, // v2 needs another module path
		"v0.98.0": `CHANGELOG.md has no line "## v0.98.0 - YYYY-MM-DD"`,
	} {
		require.Contains(t, r.refused(version), want)
	}
	r.write("LICENSE", "all of it")
	require.Contains(t, r.refused("v0.98.0"), "changes without a commit")
	r.git("checkout", "LICENSE")
	require.Empty(t, r.git("tag"))
}

// The test makes a release of this checkout and pushes it. Then a user with nothing but README installs and uses it.
// A bare repository takes the place of GitHub. Other modules come from the module cache of this machine.
func TestRelease(t *testing.T) {
	if !*releaseFlag {
		t.Skip("builds everything: run with -release")
	}
	r := newRelease(t)
	for _, version := range []string{"v0.99.0", "v0.99.1"} { // the second release replaces the hashes of the first
		r.publish(version)
	}
	require.NotContains(t, read(t, r.dir, "cmd/clichain/go.sum"), "v0.99.0")
	require.Contains(t, r.refused("v0.99.0"), "the tag v0.99.0 exists")

	t.Run("README with a fake", func(t *testing.T) { withFake(t, r).follows() })
	t.Run("README with claude", func(t *testing.T) { withClaude(t, r).follows() })

	r.run(".", "git", "clone", "-q", "https://"+module, "clone")
	for _, dir := range published { // with their go.sum and without go.work
		r.run(filepath.Join("clone", dir), "go", "build", "-mod=readonly", "./...")
	}
}

// release is a copy of this checkout, with a repository to push to.
type release struct {
	t         *testing.T
	temp, dir string
	version   string   // the newest version
	modules   string   // the module cache of this machine
	sources   []string // the environment in which Go and git find the modules
	env       []string // of the maintainer
}

func newRelease(t *testing.T) *release {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("releases need bash")
	}
	files, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("no git checkout")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("bash is not installed: %v", err)
	}
	temp := t.TempDir()
	r := &release{t: t, temp: temp, dir: filepath.Join(temp, "checkout")}
	r.modules = goenv(t, "GOMODCACHE")
	home := filepath.Join(temp, "home")
	r.sources = sourcesOf(t, temp, r.modules)
	r.env = append(slices.Clone(r.sources), "HOME="+home, "PATH="+os.Getenv("PATH"), "GOWORK=off", "GOMODCACHE="+filepath.Join(temp, "modules"))
	for name := range strings.SplitSeq(strings.TrimRight(string(files), "\x00"), "\x00") {
		r.copy(name)
	}
	require.NoError(t, os.Mkdir(home, 0o700))
	r.run(".", "git", "init", "-q", "--bare", "-b", "main", "github")
	r.git("init", "-q", "-b", "main")
	r.git("remote", "add", "origin", filepath.Join(temp, "github"))
	r.commit("first")
	return r
}

// sourcesOf returns the environment in which Go and git find the repository and the modules of others. It shares only
// the build cache with this machine, because a full build takes minutes.
func sourcesOf(t *testing.T, temp, modules string) []string {
	t.Helper()
	return []string{
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url.file://" + filepath.Join(temp, "github") + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + module,
		"GOPROXY=file://" + modules + "/cache/download," + goenv(t, "GOPROXY"), "GOPRIVATE=" + module, "GOSUMDB=off",
		"GOFLAGS=-trimpath -modcacherw", "GOCACHE=" + goenv(t, "GOCACHE"), "GOTOOLCHAIN=local",
	}
}

func goenv(t *testing.T, name string) string {
	t.Helper()
	value, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(value))
}

func (r *release) copy(name string) {
	from := filepath.Join(root, name)
	info, err := os.Lstat(from)
	if os.IsNotExist(err) {
		return // deleted, but not committed yet
	}
	require.NoError(r.t, err)
	to := filepath.Join(r.dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(to), 0o700))
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		require.NoError(r.t, err)
		require.NoError(r.t, os.Symlink(target, to))
		return
	}
	text, err := os.ReadFile(from)
	require.NoError(r.t, err)
	require.NoError(r.t, os.WriteFile(to, text, info.Mode().Perm()))
}

func (r *release) write(name, text string) {
	require.NoError(r.t, os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600))
}

func (r *release) commit(message string) {
	r.git("add", "-A")
	r.git("commit", "-q", "-m", message)
}

// run runs a program in a directory beside the checkout and returns its stdout.
func (r *release) run(dir, program string, args ...string) string {
	r.t.Helper()
	dir = filepath.Join(r.temp, dir)
	if strings.Contains(program, "/") {
		program = filepath.Join(dir, program)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, append(slices.Clone(r.env), "PWD="+dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(r.t, err, "%s %q: %s%s", program, args, out, &stderr)
	return string(out)
}

func (r *release) git(args ...string) string {
	r.t.Helper()
	return r.run("checkout", "git", args...)
}

// script runs .ci/release with the environment of the maintainer.
func (r *release) script(version string) *exec.Cmd {
	cmd := exec.Command("bash", ".ci/release", version)
	cmd.Dir = r.dir
	cmd.Env = append(slices.Clone(r.env), "GOMODCACHE="+r.modules, "GOPRIVATE=")
	return cmd
}

func (r *release) refused(version string) string {
	r.t.Helper()
	out, err := r.script(version).CombinedOutput()
	require.Error(r.t, err, "%s", out)
	return string(out)
}

// publish makes a release and runs the command that it prints.
func (r *release) publish(version string) {
	r.t.Helper()
	changes := strings.Replace(read(r.t, r.dir, "CHANGELOG.md"), "\n## ",
		fmt.Sprintf("\n## %s - 2026-01-31\n\n## ", version), 1)
	r.write("CHANGELOG.md", changes)
	r.commit("the changes of " + version)
	r.version = version
	cmd := r.script(version)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	push, err := cmd.Output()
	require.NoError(r.t, err, "%s%s", push, &stderr)
	r.run("checkout", "bash", "-e", "-c", string(push))
	tags := strings.Fields(r.run("github", "git", "tag", "--points-at", "main"))
	require.ElementsMatch(r.t, []string{version, "jetstream/" + version, "otel/" + version, "hosttools/" + version, "batch/" + version, "cmd/clichain/" + version}, tags)
}
