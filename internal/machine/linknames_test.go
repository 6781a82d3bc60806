package machine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/machine"
)

// A name that several programs share counts only for a link to the program that is searched for.
func TestFinderLinkNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on this system")
	}
	for name, test := range map[string]struct {
		target string // of the link "agent"; empty: agent is a program itself
		also   string // another program on PATH
		want   string // the base name of the result
	}{
		"a link to the program":           {target: "share/cursor-agent/versions/1/cursor-agent", want: "agent"},
		"a link into its directory":       {target: "share/cursor-agent/versions/1/agent", want: "agent"},
		"a link to another program":       {target: "share/grok/bin/grok"},
		"another program":                 {},
		"another program beside the real": {also: "cursor-agent", want: "cursor-agent"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			install := func(path string) string {
				file := filepath.Join(dir, path)
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755))
				return file
			}
			if test.target == "" {
				install("bin/agent")
			} else {
				to := install(test.target)
				require.NoError(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o755))
				require.NoError(t, os.Symlink(to, filepath.Join(dir, "bin", "agent")))
			}
			if test.also != "" {
				install(filepath.Join("bin", test.also))
			}
			t.Setenv("PATH", filepath.Join(dir, "bin"))
			var finder machine.Finder
			path, err := finder.Find([]string{"cursor-agent", "cursor-cli"}, "agent")
			if test.want == "" {
				require.ErrorIs(t, err, exec.ErrNotFound)
				return
			}
			require.NoError(t, err)
			require.Equal(t, filepath.Join(dir, "bin", test.want), path)
		})
	}
}
