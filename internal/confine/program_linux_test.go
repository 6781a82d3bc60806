package confine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/internal/localfile"
)

// copyProgram copies a program of the system to a path of the machine.
func (m *machine) copyProgram(program, path string) {
	m.t.Helper()
	real, err := filepath.EvalSymlinks(program)
	require.NoError(m.t, err)
	data, err := os.ReadFile(real)
	require.NoError(m.t, err)
	m.write(path, string(data))
}

// relative makes a symbolic link with a relative target.
func (m *machine) relative(target, path string) {
	m.t.Helper()
	require.NoError(m.t, os.MkdirAll(filepath.Dir(m.at(path)), 0o700))
	require.NoError(m.t, os.Symlink(target, m.at(path)))
}

// Each installation runs at none, because that level grants nothing else of the home directory.
func TestRulesWithInstallation(t *testing.T) {
	const script, cat = "#!/usr/bin/env interpreter\n. \"${0%/*}/lib.sh\"\n", "#!/bin/sh\ncat \"$(dirname \"$(readlink -f \"$0\")\")"
	for name, arrange := range map[string]func(m *machine) (program string){
		"program below the home": func(m *machine) string {
			m.copyProgram("/bin/true", "home/.local/bin/agent")
			return "home/.local/bin/agent"
		},
		"link to a version": func(m *machine) string {
			m.copyProgram("/bin/true", "home/.local/share/agent/versions/1.0")
			m.relative("../share/agent/versions/1.0", "home/.local/bin/agent")
			return "home/.local/bin/agent"
		},
		"fake with its scenario": func(m *machine) string {
			m.write("home/tests/fake", "#!/bin/sh\ncat \"$0.clitest.json\"\n")
			m.write("home/bin/agent.clitest.json", "x")
			m.relative("../tests/fake", "home/bin/agent")
			return "home/bin/agent"
		},
		"directory of a version": func(m *machine) string {
			m.write("home/.local/share/agent/versions/1.0/agent", cat+"/data\"\n")
			m.write("home/.local/share/agent/versions/1.0/data", "x")
			m.relative("../share/agent/versions/1.0/agent", "home/.local/bin/agent")
			return "home/.local/bin/agent"
		},
		"package with an interpreter on PATH": func(m *machine) string {
			m.copyProgram("/bin/sh", "home/.nvm/versions/node/v1/bin/interpreter")
			m.write("home/.nvm/versions/node/v1/lib/node_modules/agent/cli.js", script)
			m.write("home/.nvm/versions/node/v1/lib/node_modules/agent/lib.sh", ":\n")
			m.relative("../lib/node_modules/agent/cli.js", "home/.nvm/versions/node/v1/bin/agent")
			m.in.Env = append(m.in.Env, "PATH="+m.at("home/.nvm/versions/node/v1/bin")+":/usr/bin:/bin")
			return "home/.nvm/versions/node/v1/lib/node_modules/agent/cli.js"
		},
		"global packages with a prefix": func(m *machine) string {
			m.write("home/.npm-global/lib/node_modules/agent/bin/cli", cat+"/../../helper/data\"\n")
			m.write("home/.npm-global/lib/node_modules/helper/data", "x")
			m.relative("../lib/node_modules/agent/bin/cli", "home/.npm-global/bin/agent")
			return "home/.npm-global/bin/agent"
		},
		"chain of links through a version manager": func(m *machine) string {
			m.write("home/.volta/bin/shim", cat+"/../tools/image/data\"\n")
			m.write("home/.volta/tools/image/data", "x")
			m.relative("shim", "home/.volta/bin/agent")
			m.relative("../../.volta/bin/agent", "home/.local/bin/agent")
			return "home/.local/bin/agent"
		},
		"Python environment": func(m *machine) string {
			m.copyProgram("/bin/sh", "home/.agents/venv/bin/python")
			m.write("home/.agents/venv/pyvenv.cfg", "")
			m.write("home/.agents/venv/lib/data", "x")
			m.write("home/.agents/venv/bin/agent", "#!"+m.at("home/.agents/venv/bin/python")+"\ncat \"${0%/*}/../lib/data\"\n")
			return "home/.agents/venv/bin/agent"
		},
		"prefix with libraries": func(m *machine) string {
			m.write("home/apps/bin/agent", cat+"/../lib/data\"\n")
			m.write("home/apps/lib/data", "x")
			return "home/apps/bin/agent"
		},
		"hidden directory with data": func(m *machine) string {
			m.write("home/.vendor/agent/agent", cat+"/data\"\n")
			m.write("home/.vendor/agent/data", "x")
			return "home/.vendor/agent/agent"
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, none)
			m.in.Program = m.at(arrange(m))
			m.check(m.in.Program, true)
			m.check("cat ~/notes/a", false)
			m.check("cat ~/.ssh/id", false)
			var rules []landlock.Rule
			for _, rule := range m.rules() {
				if localfile.Within(m.in.Program, rule.Path) {
					require.Zero(t, rule.Access&landlock.Write, rule.Path)
				}
				if !localfile.Within(rule.Path, m.home) {
					rules = append(rules, rule)
				}
			}
			code, _ := m.run(rules, m.in.Program)
			require.NotZero(t, code, "without the rules of the installation")
		})
	}
}

// A file beside the program is no part of it.
func TestRulesWithProgramAmongOtherFiles(t *testing.T) {
	m := newMachine(t, none)
	m.copyProgram("/bin/true", "home/notes/agent")
	m.in.Program = m.at("home/notes/agent")
	m.check(m.in.Program, true)
	m.check("cat ~/notes/a", false)
	m.write("home/package.json", "{}")
	m.check("cat ~/notes/a", false)
}

func TestRulesWithLinks(t *testing.T) {
	m := newMachine(t, none)
	m.relative("loop", "home/loop")
	require.Equal(t, m.at("home/loop"), newResolver().real(m.at("home/loop")))
	m.relative("missing/../notes", "home/dots")
	require.Equal(t, m.at("home/notes"), newResolver().real(m.at("home/dots")))
	m.relative("../outside", "home/up")
	require.Equal(t, m.at("outside/new"), newResolver().real(m.at("home/up/new")))
	require.Equal(t, "relative", newResolver().real("relative"))
	require.Equal(t, "/", newResolver().real("/.."))
}
