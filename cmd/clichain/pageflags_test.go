package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

var (
	pageCommand = regexp.MustCompile("\\bclichain((?: [a-z][a-z-]*)*)((?: [^\\n`|;&]+)?)")
	pageFlag    = regexp.MustCompile(`(?:^|[ (])(--[a-z][a-z-]*)`)
	inlineFlag  = regexp.MustCompile("`(--[a-z][a-z-]*)[^`\n]*`")
	continued   = regexp.MustCompile(` *\\\n *`)
)

// unknownFlags returns the flags of a page that the command does not have. A flag in a command line must belong to
// that command. Any other flag in code must belong to some command or be in others.
func unknownFlags(root *cobra.Command, page string, others map[string]bool) (unknown []string) {
	known := map[string]bool{"--help": true, "--version": true}
	eachCommand(root, func(cmd *cobra.Command) {
		for name := range flagsOf(cmd) {
			known[name] = true
		}
	})
	page = continued.ReplaceAllString(page, " ")
	for _, m := range pageCommand.FindAllStringSubmatch(page, -1) {
		cmd, _, err := root.Find(strings.Fields(m[1]))
		if err != nil || cmd == root {
			continue
		}
		has := flagsOf(cmd)
		rest, _, _ := strings.Cut(m[2], " #")
		for _, flag := range pageFlag.FindAllStringSubmatch(rest, -1) {
			if !has[flag[1]] {
				unknown = append(unknown, fmt.Sprintf("%s %s", cmd.CommandPath(), flag[1]))
			}
		}
	}
	for _, m := range inlineFlag.FindAllStringSubmatch(page, -1) {
		if !known[m[1]] && !others[m[1]] {
			unknown = append(unknown, m[1])
		}
	}
	return unknown
}

func flagsOf(cmd *cobra.Command) map[string]bool {
	has := map[string]bool{"--help": true}
	for _, line := range strings.Fields(cmd.LocalFlags().FlagUsages() + cmd.InheritedFlags().FlagUsages()) {
		if strings.HasPrefix(line, "--") {
			name, _, _ := strings.Cut(strings.TrimRight(line, ","), "[")
			has[name] = true
		}
	}
	return has
}

// aboutCLIs lists the pages that name flags of other programs.
var aboutCLIs = map[string]bool{
	"specs.md": true, "rough-edges.md": true, "security.md": true, "conformance.md": true, "benchmarks.md": true,
	"test-a-spec.md": true, "write-a-spec.md": true, "run-the-tests.md": true, "live.md": true, "environment.md": true,
}

func TestPagesNameExistingFlags(t *testing.T) {
	env := &console.Env{Getenv: func(string) string { return "" }}
	// Flags of docker, podman and cursor-agent.
	others := map[string]bool{"--init": true, "--build-arg": true, "--stop-timeout": true, "--force": true}
	files, err := filepath.Glob("../../docs/*/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	files = append(files, "../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md", "../../docs/README.md")
	for _, file := range files {
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		text := string(page)
		if aboutCLIs[filepath.Base(file)] {
			text = inlineFlag.ReplaceAllString(text, "")
		}
		require.Empty(t, unknownFlags(newRoot(env), text, others), file)
	}
}

func TestUnknownFlagsFindsTypos(t *testing.T) {
	root := newRoot(&console.Env{Getenv: func(string) string { return "" }})
	page := "```sh\n" +
		"git diff | clichain ask --timeout 5s \"x\" # --comment\nclichain queue list --reason x\n```\n`--only a,b`, `--init`\n"
	require.Empty(t, unknownFlags(root, page, map[string]bool{"--init": true}))
	for old, mistake := range map[string]string{
		"--timeout": "--time-out", "--reason": "--priority", "`--only": "`--olny", "--init": "--inti",
	} {
		require.Len(t, unknownFlags(root, strings.Replace(page, old, mistake, 1), map[string]bool{"--init": true}), 1, mistake)
	}
}
