package release_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/specs"
)

// patience is the timeout of a block. It is long, because some lines install programs.
const patience = 15 * time.Minute

// newcomer is a user who follows README. The home contains only the login of one CLI.
type newcomer struct {
	t       *testing.T
	version string   // the version that @latest means in README
	cli     string   // the CLI with a login
	dir     string   // the working directory: a repository with a change
	env     []string // the whole environment
	memory  string   // a file with the directory and the variables of the shell after a block
	code    project
}

// withFake returns a newcomer with a fake CLI. It has no live mode, so serve calls it as ask does.
func withFake(t *testing.T, r *release) *newcomer {
	dir, bin, spec := t.TempDir(), t.TempDir(), specs.Cursor()
	path, err := clitest.Install(bin, spec.Binary, clitest.Answer(spec, answer))
	require.NoError(t, err)
	t.Cleanup(func() { require.Empty(t, clitest.Survivors(path)) })
	return r.newcomer(t, spec.Name, dir, "HOME="+dir, "PATH="+paths(t, bin), "TERM=dumb", "CURSOR_API_KEY="+home.Key)
}

// withClaude returns a newcomer with the real claude, whose model is a server on loopback.
func withClaude(t *testing.T, r *release) *newcomer {
	netns.Require(t)
	server := loopback.New(t, loopback.Always(loopback.Text(answer)))
	h := home.New(t, home.Claude, server.URL, home.LoggedIn)
	return r.newcomer(t, home.Claude, h.Dir, append(h.Env, "PATH="+paths(t, filepath.Dir(h.Binary), "node"))...)
}

// paths returns a PATH with the directory of a CLI, the programs that README requires, and those of every system.
func paths(t *testing.T, cli string, more ...string) string {
	t.Helper()
	dirs := []string{cli}
	for _, tool := range append(more, "go", "git", "curl", "bash") {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		dirs = append(dirs, filepath.Dir(path))
	}
	return strings.Join(append(dirs, "/usr/bin", "/bin"), string(filepath.ListSeparator))
}

func (r *release) newcomer(t *testing.T, cli, dir string, env ...string) *newcomer {
	t.Helper()
	n := &newcomer{t: t, version: r.version, cli: cli, code: project{}}
	n.dir, n.memory = filepath.Join(dir, "notes"), filepath.Join(t.TempDir(), "memory")
	// The start of the CLI may be slow on this machine.
	n.env = slices.Concat(r.sources, []string{"CLICHAIN_TIMEOUT=5m"}, env)
	require.NoError(t, os.Mkdir(n.dir, 0o700))
	n.shell("echo one > notes.md; git init -q; git add .; git commit -q -m first; echo two > notes.md")
	return n
}

// programs are the outputs of main.go after each change that README makes to it.
var programs = []string{
	answer + "\n+answered by CLI",
	answer + "\n+answered by cache",
}

// follows runs the blocks of README in order.
func (n *newcomer) follows() {
	changes := 0
	for _, b := range readme(n.t) {
		if b.language == "sh" {
			n.types(linesOf(b))
			continue
		}
		n.code.add(n.t, b.text)
		n.code.write(n.t, strings.TrimSpace(n.shell("pwd")))
		if !isFile(b.text) {
			require.Less(n.t, changes, len(programs), "add the output of main.go to programs")
			require.Regexp(n.t, n.wanted(programs[changes]), n.shell("go run ."))
			changes++
		}
	}
	require.Len(n.t, programs, changes)
}

// wanted replaces VERSION and CLI in a pattern.
func (n *newcomer) wanted(pattern string) string {
	return strings.NewReplacer("VERSION", regexp.QuoteMeta(n.version), "CLI", regexp.QuoteMeta(n.cli)).Replace(pattern)
}

// mark is a line after the output of each command.
const mark = "--- end of output ---"

// types runs a block in a shell and checks the output of each line.
func (n *newcomer) types(lines []string) {
	n.t.Helper()
	var script strings.Builder
	for _, line := range lines {
		script.WriteString(commandOf(n.t, line).script(line))
		script.WriteString("printf '\\n%s\\n' '" + mark + "'\n")
	}
	outputs := strings.Split(n.shell(script.String()), "\n"+mark+"\n")
	require.Len(n.t, outputs, len(lines)+1)
	for i, line := range lines {
		require.Regexp(n.t, n.wanted(commandOf(n.t, line).prints), outputs[i], line)
	}
}

// shell runs a script that stops at a failure, and returns its output. The next script starts in the same directory
// and with the same environment variables.
func (n *newcomer) shell(script string) string {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-e", "-c", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"+
		"[ ! -e \"$MEMORY\" ] || . \"$MEMORY\"\n"+script+"\n{ export -p; printf 'cd %q\\n' \"$PWD\"; } > \"$MEMORY\"")
	cmd.Dir, cmd.Env = n.dir, append(slices.Clone(n.env), "PWD="+n.dir, "MEMORY="+n.memory)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	out, err := cmd.CombinedOutput()
	require.NoError(n.t, err, "%s: %s", script, out)
	return string(out)
}
