package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest"
)

// The test binary plays the fake CLIs, and with this variable the program.
const playVariable = "CLICHAIN_EXAMPLE_DEMO"

func TestMain(m *testing.M) {
	if os.Getenv(playVariable) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(clitest.Run(m))
}

// README shows what the program prints. Only the times differ.
func TestProgramPrintsScreenOfReadme(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(page), "```text\n")
	screen, _, _ := strings.Cut(rest, "\n```")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playVariable+"=1", "SKIP_CLI=")
	out, err := cmd.Output()
	require.NoError(t, err)
	times := regexp.MustCompile(`[█▏▎▍▌▋▊▉]* +[\d.]+ m?s|[\d.]+ m?s|\d\d:\d\d`)
	require.Equal(t, times.ReplaceAllString(screen, "-"), times.ReplaceAllString(string(out[:strings.Index(string(out), "\n\nNow with")]), "-"))
}

func TestProgramFails(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playVariable+"=1", "TMPDIR=/dev/null")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "demo: mkdir /dev/null/")
}
