package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
)

var (
	tutorialBlock = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")
	variable      = regexp.MustCompile(`[0-9]+([.:-][0-9]+)*|[█▏▎▍▌▋▊▉]+`)
	killed        = regexp.MustCompile(`(?m)^\S*bash: line \d+: .*Killed .*\n`)
	onlyNumber    = regexp.MustCompile(`^\s*[0-9]+\s*$`)
	unit          = regexp.MustCompile(`# (ms|s|min)\b`)
	blanks        = regexp.MustCompile(` +`)
)

// steady returns the text without the parts that differ between runs: numbers in a sentence, durations, bars and
// column widths.
func steady(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !onlyNumber.MatchString(line) {
			line = unit.ReplaceAllString(variable.ReplaceAllString(line, "#"), "# s")
		}
		b.WriteString(blanks.ReplaceAllString(strings.ReplaceAll(line, "#", " # "), " "))
	}
	return strings.TrimSpace(b.String())
}

const tutorialMark = "--- end of a block ---"

// tutorialOutputs runs the commands of a page and returns the output of each block.
func tutorialOutputs(t *testing.T, w *world, page string, env ...string) []string {
	t.Helper()
	var script strings.Builder
	for _, b := range tutorialBlock.FindAllStringSubmatch(page, -1) {
		if b[1] == "sh" {
			script.WriteString(b[2] + "echo '" + tutorialMark + "'\n")
		}
	}
	out, err := w.shell(t.TempDir(), script.String(), env...)
	require.NoError(t, err, out)
	out = killed.ReplaceAllString(out, "") // bash may print a message about a job anywhere
	return strings.Split(out, tutorialMark+"\n")
}

// shown returns the page with other outputs in its text blocks. Each text block gets the output of the block before
// it.
func shown(page string, outputs []string, replace func(old, got string) string) string {
	commands := 0
	return tutorialBlock.ReplaceAllStringFunc(page, func(block string) string {
		if strings.HasPrefix(block, "```sh") {
			commands++
			return block
		}
		old := strings.TrimSuffix(strings.TrimPrefix(block, "```text\n"), "```")
		return "```text\n" + replace(old, strings.TrimSpace(outputs[commands-1])+"\n") + "```"
	})
}

// TestTutorials runs the commands of each tutorial and compares their output with the page.
func TestTutorials(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/tutorial/*.md")
	require.NoError(t, err)
	require.Len(t, files, 4)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			w := workshop(t)
			require.NoError(t, os.Remove(filepath.Join(w.bin, "git"))) // a fake
			for _, tool := range []string{"git", "chmod", "sleep", "seq", "wc", "cut", "sort", "true", "sed", "sh", "rm"} {
				path, err := exec.LookPath(tool)
				require.NoError(t, err)
				require.NoError(t, os.Symlink(path, filepath.Join(w.bin, tool)))
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			page := string(text)
			if strings.Contains(page, "nats-server") { // the test brings the server
				server := consoletest.NATSServer(t, nil)
				page = strings.ReplaceAll(page, "nats://127.0.0.1:4222", server.ClientURL())
				require.NoError(t, os.Symlink(filepath.Join(w.bin, "true"), filepath.Join(w.bin, "nats-server")))
			}
			outputs := tutorialOutputs(t, w, page, "CLICHAIN_COOLDOWNS="+filepath.Join(t.TempDir(), "cooldowns.json"))
			if *consoletest.Update {
				page := shown(string(text), outputs, func(_, got string) string { return got })
				require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
				return
			}
			shown(page, outputs, func(old, got string) string {
				require.Equal(t, steady(old), steady(got), "go test ./cmd/clichain -run TestTutorials -update writes the output")
				return old
			})
		})
	}
}

func TestSteadyKeepsWords(t *testing.T) {
	require.Equal(t, steady("  a  ████▏  48 ms  ✗ timeout\n"), steady("a █ 1.05 s ✗ timeout"))
	require.NotEqual(t, steady("20\n"), steady("19\n"))
	require.NotEqual(t, steady("a 1 s ✗ timeout"), steady("a 1 s ✓ answered"))
	page := "```sh\na\n```\n```text\nb\n```\n"
	require.Contains(t, shown(page, []string{"c", ""}, func(old, got string) string { return old + got }), "b\nc\n")
}
