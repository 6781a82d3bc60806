package confine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/landlock"
)

// machine is a home directory with a project, credentials and a CLI, and the call of the CLI.
type machine struct {
	t                   testing.TB
	base, home, project string
	in                  Input
}

// newMachine creates a machine at an access level. Its files are those of an agent with the name "agent".
func newMachine(t testing.TB, access call.Access) *machine {
	t.Helper()
	if _, err := landlock.Usable(); err != nil {
		t.Skip("this system cannot confine programs: ", err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Setenv("HOME", filepath.Join(base, "home")) // no other home has files that matter
	m := &machine{t: t, base: base, home: filepath.Join(base, "home"), project: filepath.Join(base, "home/src/project")}
	for _, path := range []string{
		"home/.ssh/id", "home/.other/login", "home/.agent/login", "home/notes/a", "home/.bashrc", "home/.local/bin/tool",
		"home/.cache/build/a", "home/.cache/other/a", "home/src/project/code", "home/src/beside/code", "home/tools/own",
		"outside/a", "images/a.png", "temp/a",
	} {
		m.write(path, "x")
	}
	m.in = Input{
		Spec: &clispec.Spec{Name: "agent", Confine: clispec.ConfineRules{
			State: []clispec.StatePath{{Path: "${AGENT_HOME:-~/.agent}", Watch: []string{"settings.json", "hooks"}}},
		}},
		Access: access, Program: "/bin/sh", Dir: m.project, Images: []string{m.at("images/a.png")}, Temp: m.at("temp"),
		Env: []string{
			"HOME=" + m.home, "TMPDIR=" + m.at("temp"), "GIT_TERMINAL_PROMPT=0",
			"PATH=" + m.at("home/.local/bin") + ":" + m.at("home/tools") + ":/usr/local/bin:/usr/bin:/bin",
		},
		OtherState: []string{"~/.other", "~/.cache/other"},
	}
	return m
}

// at returns the path of a file of the machine.
func (m *machine) at(path string) string { return filepath.Join(m.base, path) }

func (m *machine) write(path, text string) {
	m.t.Helper()
	path = m.at(path)
	require.NoError(m.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(m.t, os.WriteFile(path, []byte(text), 0o700))
}

// run runs a script as the CLI with the rules, and returns its exit code and output. Nil rules do not confine it.
func (m *machine) run(rules []landlock.Rule, script string) (code int, output string) {
	m.t.Helper()
	out, err := os.Create(filepath.Join(m.t.TempDir(), "output"))
	require.NoError(m.t, err)
	defer out.Close()
	null, err := os.Open(os.DevNull)
	require.NoError(m.t, err)
	defer null.Close()
	attr := &os.ProcAttr{Dir: m.in.Dir, Env: m.in.Env, Files: []*os.File{null, out, out}, Sys: &syscall.SysProcAttr{}}
	start := func(argv ...string) (*os.Process, error) {
		if rules == nil {
			return os.StartProcess(argv[0], argv, attr)
		}
		return landlock.Start(argv[0], argv, attr, rules, nil)
	}
	p, err := start("/bin/sh", "-c", script)
	require.NoError(m.t, err)
	state, err := p.Wait()
	require.NoError(m.t, err)
	text, err := os.ReadFile(out.Name())
	require.NoError(m.t, err)
	return state.ExitCode(), string(text)
}

// rules returns the rules of the call.
func (m *machine) rules() []landlock.Rule {
	m.t.Helper()
	require.NoError(m.t, MakeState(m.in))
	rules, err := Rules(m.in)
	require.NoError(m.t, err)
	return rules
}

// check requires that a confined script succeeds, or that it fails and then succeeds without rules.
func (m *machine) check(script string, allowed bool) {
	m.t.Helper()
	code, output := m.run(m.rules(), script)
	require.Equal(m.t, allowed, code == 0, "exit code %d: %s", code, output)
	if allowed {
		return
	}
	code, output = m.run(nil, script)
	require.Zero(m.t, code, "without rules: %s", output)
}

// command runs a program without confinement, to prepare the machine.
func (m *machine) command(dir string, argv ...string) {
	m.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = m.at(dir), m.in.Env
	out, err := cmd.CombinedOutput()
	require.NoError(m.t, err, "%s", out)
}

// repository makes the project a repository with one commit. The user's configuration is in an included file.
func (m *machine) repository() {
	m.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		m.t.Skip(err)
	}
	m.write("home/.gitconfig", "[include]\n\tpath = dotfiles/git # names\n[init]\n\tdefaultBranch = main\n")
	m.write("home/dotfiles/git", "[user]\n\tname = A\n\temail = a@example.com\n")
	m.command("home/src/project", "git", "init", "-q")
	m.command("home/src/project", "git", "add", ".")
	m.command("home/src/project", "git", "commit", "-q", "-m", "first")
}

// otherUser is the ID of a user that does not run the tests.
const otherUser = 65534

// asOther makes the files of the machine those of another user, and returns a script that runs one as that user.
func (m *machine) asOther(script string) string {
	m.t.Helper()
	if os.Geteuid() != 0 {
		return script
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		m.t.Skip(err)
	}
	for dir := m.base; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		require.NoError(m.t, os.Chmod(dir, 0o755))
	}
	require.NoError(m.t, filepath.WalkDir(m.base, func(path string, _ os.DirEntry, err error) error {
		require.NoError(m.t, err)
		return os.Lchown(path, otherUser, otherUser)
	}))
	id := strconv.Itoa(otherUser)
	quoted := "'" + strings.ReplaceAll(script, "'", `'\''`) + "'"
	return fmt.Sprintf("%s --reuid=%s --regid=%s --clear-groups /bin/sh -c %s", setpriv, id, id, quoted)
}
