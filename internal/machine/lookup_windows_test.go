package machine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/machine"
)

func put(t *testing.T, path string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, nil, 0o700))
	return path
}

// A name means a program with one of four endings, and never the script for Unix shells that npm puts beside it.
func TestLookupSuffixes(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		name  string
		want  string // empty: not found
	}{
		"program":                  {[]string{"cli.exe"}, "cli", "cli.exe"},
		"program before a batch":   {[]string{"cli.cmd", "cli.exe"}, "cli", "cli.exe"},
		"shims of npm":             {[]string{"cli", "cli.cmd", "cli.ps1"}, "cli", "cli.cmd"},
		"whole name":               {[]string{"cli.exe", "cli.cmd"}, "cli.cmd", "cli.cmd"},
		"another case":             {[]string{"cli.exe"}, "CLI.EXE", "CLI.EXE"},
		"dot in the name":          {[]string{"cli.v2.exe"}, "cli.v2", "cli.v2.exe"},
		"script of PATHEXT":        {[]string{"cli.js", "cli.vbs", "cli.ps1"}, "cli", ""},
		"script for a Unix shell":  {[]string{"cli"}, "cli", ""},
		"directory with that name": {[]string{"cli.exe/file"}, "cli", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range test.files {
				put(t, filepath.Join(dir, file))
			}
			t.Setenv("PATHEXT", ".JS;.VBS;.PS1;.EXE;.CMD")
			t.Setenv("PATH", dir)
			path, err := machine.Lookup(test.name, "", dir)
			found, missing := new(machine.Finder).Find([]string{test.name})
			if test.want == "" {
				require.ErrorIs(t, err, exec.ErrNotFound)
				require.ErrorIs(t, missing, exec.ErrNotFound)
				return
			}
			require.NoError(t, err)
			require.Equal(t, filepath.Join(dir, test.want), path)
			require.NoError(t, missing)
			require.Equal(t, path, found)
		})
	}
}

func TestLookupPlaces(t *testing.T) {
	top := t.TempDir()
	long := filepath.Join(top, strings.Repeat("d", 120), strings.Repeat("e", 120), strings.Repeat("f", 60))
	require.Greater(t, len(long), 260)
	for name, dir := range map[string]string{
		"blanks":    filepath.Join(top, "Program Files (x86)", "a b"),
		"semicolon": filepath.Join(top, "a;b"),
		"long":      long,
		"device":    `\\?\` + filepath.Join(top, "device"),
	} {
		t.Run(name, func(t *testing.T) {
			want := put(t, filepath.Join(dir, "cli.exe"))
			path, err := machine.Lookup("cli", "", `C:\missing;"`+dir+`"`)
			require.NoError(t, err)
			require.Equal(t, want, path)
			path, err = machine.Lookup(want, "", "")
			require.NoError(t, err)
			require.Equal(t, want, path)
		})
	}
}

// Paths that depend on the current drive or directory are refused, in PATH and as names. So is a missing server.
func TestLookupRefusesRelativePlaces(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	put(t, filepath.Join(dir, "bin", "cli.exe"))
	put(t, filepath.Join(dir, "cli.exe"))
	drive := filepath.VolumeName(dir)
	for _, list := range []string{"", ".", "bin", drive + "bin", drive, strings.TrimPrefix(dir, drive), `\\no-server\share`} {
		_, err := machine.Lookup("cli", dir, list)
		require.ErrorIs(t, err, exec.ErrNotFound, "%q in PATH", list)
		t.Setenv("PATH", list)
		_, err = new(machine.Finder).Find([]string{"cli"})
		require.ErrorIs(t, err, exec.ErrNotFound, "%q in PATH", list)
	}
	for _, name := range []string{drive + "cli.exe", drive + `bin\cli.exe`, `\cli.exe`, "/cli", strings.TrimPrefix(dir, drive) + `\cli`} {
		_, err := machine.Lookup(name, dir, dir)
		require.ErrorContains(t, err, "depends on the current drive or directory", name)
	}
	_, err := machine.Lookup(`\\no-server\share\cli.exe`, dir, dir)
	require.ErrorIs(t, err, exec.ErrNotFound)
	path, err := machine.Lookup(`bin\cli`, dir, "")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "bin", "cli.exe"), path)
}
