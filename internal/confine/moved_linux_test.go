package confine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A variable cannot move the state to files that belong to others. The counter-proof moves it to an own directory.
func TestRulesWithStateMovedToOthers(t *testing.T) {
	for name, test := range map[string]struct {
		state, script string
		allowed       bool
	}{
		"own directory":                {"home/agents/a", "cat $AGENT_HOME/a && : >$AGENT_HOME/new", true},
		"usual directory":              {"home/.agent", "cat $AGENT_HOME/login && : >$AGENT_HOME/new", true},
		"home directory":               {"home", "cat $AGENT_HOME/notes/a", false},
		"directory around the home":    {"", "cat $AGENT_HOME/outside/a", false},
		"credentials":                  {"home/.ssh", "cat $AGENT_HOME/id", false},
		"directory in credentials":     {"home/.ssh/agent", "cat $AGENT_HOME/a", false},
		"directory around credentials": {"home/.config", "cat $AGENT_HOME/a", false},
		"state of another CLI":         {"home/.other", "cat $AGENT_HOME/login", false},
		"directory on PATH":            {"home/.local/bin", ": >$AGENT_HOME/new", false},
		"start-up files":               {"home/.config/systemd/user", ": >$AGENT_HOME/new", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, none)
			for _, path := range []string{"home/agents/a/a", "home/.ssh/agent/a", "home/.config/a", "home/.config/systemd/user/a"} {
				m.write(path, "x")
			}
			m.in.Env = append(m.in.Env, "AGENT_HOME="+m.at(test.state))
			m.check(test.script, test.allowed)
		})
	}
}

// The directories of the system are no state, also for root.
func TestMovableInSystem(t *testing.T) {
	for _, dir := range []string{"/", "/etc", "/usr/share/agent", "/proc/self", "/dev"} {
		m := newMachine(t, none)
		m.in.Env = append(m.in.Env, "AGENT_HOME="+dir)
		require.Empty(t, newPlan(m.in).state(), dir)
	}
}

func TestMakeStateLeavesFilesOfOthers(t *testing.T) {
	m := newMachine(t, none)
	m.in.Env = append(m.in.Env, "AGENT_HOME="+m.at("home/.ssh/new"))
	require.NoError(t, MakeState(m.in))
	require.NoDirExists(t, m.at("home/.ssh/new"))
	m.in.Env = append(m.in.Env, "AGENT_HOME="+m.at("home/agents/new"))
	require.NoError(t, MakeState(m.in))
	require.DirExists(t, m.at("home/agents/new"))
}
