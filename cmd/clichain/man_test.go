package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/inspect"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// Every command must have a manual page with all of its flags.
func TestManPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "share", "man1")
	env := &console.Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }}
	require.Zero(t, run(t.Context(), env, []string{"man", dir}))
	root, want := newRoot(env), 0
	eachCommand(root, func(cmd *cobra.Command) {
		if cmd != root && !cmd.IsAvailableCommand() && !cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		want++
		text, err := os.ReadFile(filepath.Join(dir, inspect.PageName(cmd)+".1"))
		require.NoError(t, err)
		page := plain(string(text))
		require.Contains(t, page, inspect.PageName(cmd)+" - "+cmd.Short)
		for _, group := range console.GroupedFlags(cmd) {
			require.Contains(t, page, "\n.SS "+group.Title()+"\n", cmd.CommandPath())
			group.Flags.VisitAll(func(flag *pflag.Flag) {
				_, usage := console.FlagText(flag)
				require.Contains(t, page, "--"+flag.Name, cmd.CommandPath())
				require.Contains(t, page, "\n"+usage+"\n", cmd.CommandPath())
			})
		}
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			require.Contains(t, page, strings.TrimSpace(line), cmd.CommandPath())
		}
	})
	pages, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, pages, want)
	require.Greater(t, want, 20)
	if _, err := exec.LookPath("groff"); err != nil {
		return
	}
	for _, page := range pages { // groff must report no error
		out, err := exec.Command("groff", "-man", "-Tutf8", "-ww", "-z", filepath.Join(dir, page.Name())).CombinedOutput()
		require.NoError(t, err)
		require.Empty(t, string(out), page.Name())
	}
}

// plain returns the page without its escape sequences.
func plain(page string) string {
	return strings.NewReplacer(`\e`, `\`, `\-`, "-", `\(ti`, "~", `\(ha`, "^", `\(ga`, "`", `\(aq`, "'", `\(dq`, `"`,
		`\fI`, "", `\fR`, "", `\&`, "").Replace(page)
}

func TestManErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for name, args := range map[string][]string{"no directory": nil, "two directories": {"a", "b"}, "a file": {file}} {
		t.Run(name, func(t *testing.T) {
			env := &console.Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }}
			require.Equal(t, console.ExitUsage, run(t.Context(), env, append([]string{"man"}, args...)))
		})
	}
}
