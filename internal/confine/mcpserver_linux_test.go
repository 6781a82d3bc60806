package confine

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server is outside the home directory, among the temporary files that no level grants.
func TestRulesWithServers(t *testing.T) {
	for name, test := range map[string]struct {
		line    []string // files of the machine begin with "/"
		script  string
		allowed bool
	}{
		"program on PATH":                {[]string{"server"}, "server", true},
		"absolute program":               {[]string{"/servers/bin/server"}, "$BASE/servers/bin/server", true},
		"program in the directory":       {[]string{"./tools/server"}, "./tools/server", true},
		"other program beside it":        {[]string{"server"}, "$BASE/servers/bin/other", false},
		"interpreter of the program":     {[]string{"/servers/run"}, "$BASE/servers/run", true},
		"script of an interpreter":       {[]string{"sh", "/scripts/own/main"}, "sh $BASE/scripts/own/main", true},
		"package of a script":            {[]string{"sh", "-e", "/packages/own/src/main"}, "cat $BASE/packages/own/data", true},
		"directory beside the package":   {[]string{"sh", "/packages/own/src/main"}, "cat $BASE/packages/other/data", false},
		"file in a later argument":       {[]string{"sh", "/scripts/own/main", "/outside/a"}, "cat $BASE/outside/a", true},
		"directory of a later argument":  {[]string{"sh", "/scripts/own/main", "/outside/a"}, "cat $BASE/outside/b", false},
		"change of the script":           {[]string{"sh", "/scripts/own/main"}, "echo >> $BASE/scripts/own/main", false},
		"directory in an argument":       {[]string{"sh", "/outside"}, "cat $BASE/outside/a", false},
		"credentials in an argument":     {[]string{"sh", "/home/.ssh/id"}, "cat ~/.ssh/id", false},
		"credentials with a script":      {[]string{"sh", "/home/.ssh/main"}, "cat ~/.ssh/id", false},
		"state of another CLI":           {[]string{"/home/.other/server"}, "~/.other/server", false},
		"script in the home directory":   {[]string{"sh", "/home/main"}, "cat ~/notes/a", false},
		"missing program and empty line": {[]string{"missing"}, "$BASE/servers/bin/server", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, none)
			if test.line[0] == "./tools/server" {
				m.in.Access = read // none has no working directory
			}
			for _, path := range []string{
				"servers/bin/server", "servers/bin/other", "home/src/project/tools/server", "home/.other/server",
			} {
				m.copyProgram("/bin/true", path)
			}
			m.copyProgram("/bin/sh", "interpreters/interpreter")
			m.write("servers/run", "#!"+m.at("interpreters/interpreter")+"\n:\n")
			m.write("scripts/own/main", ". \"${0%/*}/lib\"\n")
			m.write("scripts/own/lib", ":\n")
			m.write("packages/own/package.json", "{}")
			for _, path := range []string{
				"packages/own/src/main", "packages/own/data", "packages/other/data", "outside/b", "home/main", "home/.ssh/main",
			} {
				m.write(path, "")
			}
			m.in.Env = append(m.in.Env, "BASE="+m.base, "PATH="+m.at("servers/bin")+":/usr/bin:/bin")
			line := slices.Clone(test.line)
			for i, arg := range line {
				if arg[0] == '/' {
					line[i] = m.at(arg)
				}
			}
			if test.allowed {
				code, _ := m.run(m.rules(), test.script)
				require.NotZero(t, code, "without the rules of the servers")
			}
			m.in.Servers = [][]string{{}, line}
			m.check(test.script, test.allowed)
		})
	}
}
