package release_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// command describes a line of a page.
type command struct {
	begins string
	as     string // what a script runs in its place, "%s" for the line; empty: the line
	then   string // a command that shows the effect of the line
	prints string // a pattern for the output of both
}

// answer is the answer of the only CLI to every prompt.
const answer = "Hook, bookmark, lock pick."

// commands are the lines that the pages may contain, at most once per page.
var commands = []command{
	// These lines need a checkout. .ci/bare runs them.
	{begins: "go run ./examples/demo", as: ":"},
	{begins: "go test work", as: ":"},

	{begins: "go install ", then: `ls "$(go env GOPATH)/bin"`, prints: `(?m)^clichain$`},
	{begins: "export PATH="},
	{begins: "clichain version", prints: `(?m)^clichain VERSION$`},
	{begins: "echo 'source ", then: "bash -c 'source ~/.bashrc; complete -p clichain'", prints: "clichain"},
	{begins: "clichain man ", then: `ls "$(go env GOPATH)/share/man/man1"`, prints: `(?m)^clichain-ask\.1$`},

	{begins: "clichain demo", prints: "Air scatters blue light"},
	{begins: "clichain doctor", prints: `(?m)^. CLI +ready`},
	{begins: "clichain ask ", prints: answer},
	{begins: "git diff | clichain ask ", prints: `(?s)lock pick.*CLI`},
	{begins: "clichain usage", prints: `No usage windows are known|\d %`},

	{begins: "mkdir "},
	{begins: "go get ", then: "cat go.mod", prints: module + " VERSION"},
	{begins: "go mod tidy"},
	{begins: "go run .", prints: answer + "\nanswered by CLI(\n| after [0-9]+ others)"},
	{begins: "go test -race ./...", prints: `(?m)^ok\s+example\.com/clips`},

	// The script waits until the server prints its URL.
	{begins: "clichain serve &", as: `mkfifo up; clichain serve > up & read -r url < up; echo "$url"`, prints: `(?m)^http://127\.0\.0\.1:8484/v1$`},
	{begins: "export OPENAI_BASE_URL=http://127.0.0.1:8484/v1"},
	{begins: "curl ", prints: `"content":"` + answer + `"`},
	{begins: "kill %1", then: "wait $!", prints: "stopped|drained|shut"},
}

var (
	comment   = regexp.MustCompile(` +# .*`)
	continued = regexp.MustCompile(` *\\\n *`)
)

// linesOf returns the lines of a block without comments. It joins lines that end with a backslash.
func linesOf(b block) (lines []string) {
	for line := range strings.Lines(continued.ReplaceAllString(b.text, " ")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		lines = append(lines, comment.ReplaceAllString(strings.TrimSuffix(line, "\n"), ""))
	}
	return lines
}

func commandOf(t *testing.T, line string) (c command) {
	t.Helper()
	for _, c := range commands {
		if strings.HasPrefix(line, c.begins) {
			return c
		}
	}
	t.Fatalf("unknown line; add it to commands, with its output: %s", line)
	return c
}

// script returns what bash runs for a line.
func (c command) script(line string) string {
	if c.as != "" {
		line = c.as
	}
	return line + "\n" + c.then + "\n"
}

func TestReadmeCommands(t *testing.T) {
	found := map[string]bool{}
	for _, file := range []string{readmeFile, programFile} {
		here := map[string]bool{}
		for _, b := range blocksOf(t, file) {
			if b.language != "sh" {
				continue
			}
			for _, line := range linesOf(b) {
				begins := commandOf(t, line).begins
				require.False(t, here[begins], "%s contains this command twice: %s", file, begins)
				here[begins], found[begins] = true, true
			}
		}
	}
	for _, b := range readme(t) {
		for _, line := range linesOf(b) {
			if b.language == "sh" {
				found[commandOf(t, line).begins] = true
			}
		}
	}
	for _, c := range commands {
		require.True(t, found[c.begins], "no page contains this command: %s", c.begins)
	}
}
