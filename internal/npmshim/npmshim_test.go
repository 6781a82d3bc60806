package npmshim_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain/internal/npmshim"
	"github.com/stretchr/testify/require"
)

// The files in testdata were written by cmd-shim 8.0.0, for the programs that their paths show.
func TestParse(t *testing.T) {
	for name, want := range map[string]npmshim.Command{
		"cli":    {Interpreter: "node", File: "node_modules/a/bin/cli.js"},
		"flags":  {"node", []string{"--no-warnings=DEP0040", "--enable-source-maps"}, "node_modules/a/bin/flags.js"},
		"native": {File: "node_modules/a/bin/native.exe"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile("testdata/" + name + ".cmd")
			require.NoError(t, err)
			unix := strings.ReplaceAll(string(text), "\r\n", "\n")
			for _, text := range []string{unix, strings.ReplaceAll(unix, "\n", "\r\n")} {
				c, ok := npmshim.Parse(text)
				require.True(t, ok)
				require.Equal(t, want.File, c.File)
				require.Equal(t, want.Interpreter, c.Interpreter)
				require.ElementsMatch(t, want.Flags, c.Flags)
			}
		})
	}
}

// A batch file that does something else as well could change what the program does.
func TestParseRefusesOtherFiles(t *testing.T) {
	data, err := os.ReadFile("testdata/cli.cmd")
	require.NoError(t, err)
	text := string(data)
	script, err := os.ReadFile("testdata/script.cmd") // for a script of a Unix shell
	require.NoError(t, err)
	for name, text := range map[string]string{
		"empty":                  "",
		"Unix shell":             string(script),
		"variable":               strings.Replace(text, "SETLOCAL", "SETLOCAL\nSET NODE_OPTIONS=--require x", 1),
		"second command":         text + "echo more\n",
		"other interpreter":      strings.Replace(text, `"_prog=node"`, `"_prog=deno"`, 1),
		"variable in the path":   strings.Replace(text, `node_modules\a`, `%HOME%\a`, 1),
		"quoted flag":            strings.Replace(text, `"%_prog%" `, `"%_prog%" "-e x"`, 1),
		"arguments of the shim":  strings.Replace(text, ` %*`, ` --yes %*`, 1),
		"interpreter with paths": strings.ReplaceAll(text, `node`, `..\node`),
	} {
		_, ok := npmshim.Parse(text)
		require.False(t, ok, name)
	}
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	write := func(name, from string) string {
		data, err := os.ReadFile("testdata/" + from)
		require.NoError(t, err)
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	bin := filepath.Join(dir, "node_modules", "a", "bin")
	missing := errors.New("no such program")
	find := func(name string) (string, error) { return filepath.Join("bin", name), nil }
	none := func(string) (string, error) { return "", missing }

	args, err := npmshim.Resolve(write("native.cmd", "native.cmd"), none)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(bin, "native.exe")}, args)

	flags := write("flags.cmd", "flags.cmd")
	args, err = npmshim.Resolve(flags, find)
	require.NoError(t, err)
	rest := []string{"--no-warnings=DEP0040", "--enable-source-maps", filepath.Join(bin, "flags.js")}
	require.Equal(t, append([]string{filepath.Join("bin", "node")}, rest...), args)
	_, err = npmshim.Resolve(flags, none)
	require.ErrorIs(t, err, missing)

	node := write("node.exe", "native.cmd")
	args, err = npmshim.Resolve(flags, none)
	require.NoError(t, err)
	require.Equal(t, append([]string{node}, rest...), args)

	_, err = npmshim.Resolve(write("other.cmd", "script.cmd"), find)
	require.ErrorIs(t, err, npmshim.ErrUnknown)
	_, err = npmshim.Resolve(filepath.Join(dir, "missing.cmd"), find)
	require.ErrorIs(t, err, os.ErrNotExist)
}
