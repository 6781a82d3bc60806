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
	as     string // the line as a script runs it, "%s" for itself; empty: as it is
	then   string // a command that shows what it did
	prints string // a pattern in the output of both
}

// answer is what the one CLI of a newcomer says to everything.
const answer = "Hook, bookmark, lock pick."

// commands are the lines that the pages may have. Each page has each of them at most once.
var commands = []command{
	// They are for a checkout, where .ci/bare runs them.
	{begins: "go run ./cmd/clichain demo", as: ":"},
	{begins: "go test -race -p 4 -timeout ", as: ":"},

	{begins: "go install ", then: `ls "$(go env GOPATH)/bin"`, prints: `(?m)^clichain$`},
	{begins: "export PATH="},
	{begins: "clichain version", prints: `(?m)^clichain VERSION$`},
	{begins: "echo 'source ", then: "bash -c 'source ~/.bashrc; complete -p clichain'", prints: "clichain"},
	{begins: "clichain man ", then: `ls "$(go env GOPATH)/share/man/man1"`, prints: `(?m)^clichain-ask\.1$`},

	{begins: "clichain demo", prints: "Air scatters blue light"},
	{begins: "clichain doctor", prints: `(?m)^. CLI +ready`},
	{begins: "clichain ask ", prints: answer},
	{begins: "git diff | clichain ask ", prints: `(?s)lock pick.*CLI`},

	{begins: "mkdir "},
	{begins: "go get ", then: "cat go.mod", prints: module + " VERSION"},
	{begins: "go mod tidy"},
	{begins: "go run .", prints: answer + "\nanswered by CLI(\n| after [0-9]+ others)"},
	{begins: "go test -race ./...", prints: `(?m)^ok\s+example\.com/clips`},

	// What it prints tells when it listens.
	{begins: "clichain serve &", as: `mkfifo up; clichain serve > up & read -r url < up; echo "$url"`, prints: `(?m)^http://127\.0\.0\.1:8484/v1$`},
	{begins: "export OPENAI_BASE_URL=http://127.0.0.1:8484/v1"},
	{begins: "curl ", prints: `"content":"` + answer + `"`},
	{begins: "kill %1", then: "wait $!", prints: "stopped|drained|shut"},
}

var (
	comment   = regexp.MustCompile(` +# .*`)
	continued = regexp.MustCompile(` *\\\n *`)
)

// linesOf are the lines of a block without their comments, those that a backslash joins as one.
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
	t.Fatalf("commands does not know this line; add it with what it prints: %s", line)
	return c
}

// script is what bash runs of a line.
func (c command) script(line string) string {
	if c.as != "" {
		line = c.as
	}
	return line + "\n" + c.then + "\n"
}

// The pages have the commands of this file and no others.
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
				require.False(t, here[begins], "%s has it twice: %s", file, begins)
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
		require.True(t, found[c.begins], "no page has it: %s", c.begins)
	}
}
