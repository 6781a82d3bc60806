package release_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// command is what is known of a line of README.
type command struct {
	begins string
	as     string // the line as a script runs it, "%s" for itself; empty: as it is
	then   string // a command that shows what it did
	prints string // a pattern in the output of both
}

// answer is what the one CLI of a newcomer says to everything.
const answer = "Hook, bookmark, lock pick."

// commands are the lines that README may have. It is to have each of them once.
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
	{begins: "go run .", prints: answer + "\nanswered by CLI after [0-9]+ others"},
	{begins: "go test -race ./...", prints: `(?m)^ok\s+example\.com/paperclip`},

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
	t.Fatalf("nobody has tried this line of README; say in commands what it does: %s", line)
	return c
}

// script is what bash runs of a line.
func (c command) script(line string) string {
	if c.as != "" {
		line = c.as
	}
	return line + "\n" + c.then + "\n"
}

// Every line of README is known, and none that is known is missing.
func TestReadmeCommands(t *testing.T) {
	found := map[string]int{}
	for _, b := range readme(t) {
		if b.language != "sh" {
			continue
		}
		for _, line := range linesOf(b) {
			found[commandOf(t, line).begins]++
		}
	}
	for _, c := range commands {
		require.Equal(t, 1, found[c.begins], c.begins)
	}
}
