package confine

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
)

func TestMakeState(t *testing.T) {
	for _, level := range levels {
		m := newMachine(t, level)
		m.in.Spec.Confine.State = []clispec.StatePath{
			{Path: "~/.missing/data"}, {Path: "~/.missing.json", File: true}, {Path: "~/.missing.txt", File: true}, {Path: "~/.agent"},
		}
		m.check("cd ~/.missing/data && : >new && rm new", true)
		m.check("grep -q '{}' ~/.missing.json && echo '{}' >~/.missing.json", true)
		m.check("test ! -s ~/.missing.txt", true)
		m.check("grep -q x ~/.agent/login", true)
		for path, mode := range map[string]os.FileMode{
			"home/.missing": 0o700, "home/.missing/data": 0o700, "home/.missing.json": 0o600, "home/.missing.txt": 0o600,
		} {
			info, err := os.Stat(m.at(path))
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm(), path)
		}
		left, err := os.ReadDir(m.home)
		require.NoError(t, err)
		for _, entry := range left {
			require.NotContains(t, entry.Name(), "clichain")
		}
	}
}

// The counter-proof is a call whose state was not made.
func TestRulesWithoutMakeState(t *testing.T) {
	m := newMachine(t, read)
	m.in.Spec.Confine.State = []clispec.StatePath{{Path: "~/.missing"}}
	rules, err := Rules(m.in)
	require.NoError(t, err)
	code, _ := m.run(rules, "mkdir ~/.missing")
	require.NotZero(t, code)
}

func TestMakeStateLeavesOtherDirectories(t *testing.T) {
	for name, change := range map[string]func(m *machine){
		"missing home": func(m *machine) { m.in.Env = []string{"HOME=" + m.at("nowhere")} },
		"no home":      func(m *machine) { m.in.Env = nil },
		"full access":  func(m *machine) { m.in.Access = never; require.NoError(m.t, os.RemoveAll(m.at("home/.agent"))) },
		"optional state": func(m *machine) {
			m.in.Spec.Confine.State = []clispec.StatePath{{Path: "~/.missing", Optional: true}}
		},
		"link to a missing mount": func(m *machine) { m.link("nowhere", "home/.agent") },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, read)
			change(m)
			before, err := os.ReadDir(m.home)
			require.NoError(t, err)
			require.NoError(t, MakeState(m.in))
			after, err := os.ReadDir(m.home)
			require.NoError(t, err)
			require.Equal(t, len(before), len(after))
			require.NoFileExists(t, m.at("nowhere"))
			require.NoDirExists(t, m.at("nowhere"))
		})
	}
}

// link replaces a path with a symbolic link.
func (m *machine) link(target, path string) {
	m.t.Helper()
	require.NoError(m.t, os.RemoveAll(m.at(path)))
	require.NoError(m.t, os.Symlink(m.at(target), m.at(path)))
}

func TestRulesWithStateBehindLink(t *testing.T) {
	for _, target := range []string{"home/dotfiles/agent", "home/dotfiles/missing", "disk/agent"} {
		m := newMachine(t, none)
		m.write("home/dotfiles/agent/login", "x")
		m.write("disk/agent/login", "x")
		m.link(target, "home/.agent")
		m.check("echo x >>~/.agent/login && mv ~/.agent/login ~/.agent/b && rm ~/.agent/b", true)
		m.check("ls ~/dotfiles", false)
	}
}

// A link to credentials does not expose the target of the link.
func TestRulesWithCredentialsBehindLink(t *testing.T) {
	m := newMachine(t, write)
	m.write("home/dotfiles/ssh/id", "x")
	m.write("home/dotfiles/vimrc", "x")
	m.link("home/dotfiles/ssh", "home/.ssh")
	m.check("cat ~/dotfiles/vimrc", true)
	m.check("cat ~/.ssh/id", false)
	m.check("cat ~/dotfiles/ssh/id", false)
}

func TestRulesWithMovedState(t *testing.T) {
	m := newMachine(t, none)
	m.write("disk/agent/login", "x")
	m.in.Env = append(m.in.Env, "AGENT_HOME="+m.at("disk/agent"))
	m.check("echo x >>$AGENT_HOME/login", true)
	m.check("cat ~/.agent/login", false)
}

// Some logins need credentials that are hidden from other CLIs.
func TestRulesWithFilesOfLogin(t *testing.T) {
	m := newMachine(t, write)
	m.write("home/.aws/credentials", "x")
	m.check("cat ~/.aws/credentials", false)
	m.in.Spec.Confine.Read = []string{"~/.aws", "${MISSING}"}
	m.check("cat ~/.aws/credentials", true)
	m.check("echo x >>~/.aws/credentials", false)
}
