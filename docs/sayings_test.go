package docs_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/specs"
)

var words = strings.Fields("no one two three four five six seven eight nine ten eleven twelve")

func word(n int) string { return words[n] }

// saying is a figure in a sentence of a page: the pattern has one group, which is the figure.
type saying struct{ file, pattern, figure string }

func sayings(t *testing.T) []saying {
	all := len(specs.All())
	title := func(n int) string { return strings.ToUpper(word(n)[:1]) + word(n)[1:] }
	var further []string
	for _, s := range specs.Every()[all:] {
		further = append(further, s.Name)
	}
	limited := regexp.MustCompile(`(?m)^\| claude at 429 \| [^|]* \| (\S+ s) \| (\S+ s) \|$`)
	early := limited.FindStringSubmatch(read(t, figuresPage))
	require.Len(t, early, 3)
	warm := regexp.MustCompile(`(?m)^\| claude [\d.]+ \| (\d+ ms) [^|]*\| (\d+ ms) `).FindStringSubmatch(read(t, "docs/how-to/live.md"))
	require.Len(t, warm, 3)
	return []saying{
		{"README.md", `(\d+) reasons, each`, fmt.Sprint(len(call.Reasons()))},
		{"README.md", `in this order\. ([\w,\s]+?) have built-in specs as well`, wrapped(further)},
		{"README.md", `(\w+) are also tested in versions`, title(earlier(t))},
		{"README.md", `claude at 429, then codex, took (\S+ s) instead of`, early[1]},
		{"README.md", `codex, took \S+ s instead of (\S+ s)\n`, early[2]},
		{"README.md", `clichain leaves (\d+) processes`, benchmark(t, "A timeout while a tool runs: processes left 3 s later", 0)},
		{"README.md", `os/exec leaves (\d+)\n`, benchmark(t, "A timeout while a tool runs: processes left 3 s later", 1)},
		{"README.md", `claude sends (\d+) bytes`, benchmark(t, "One prompt, claude: sent to the model, bytes", 0)},
		{"README.md", `bytes to the model instead of (\d+)\.`, benchmark(t, "One prompt, claude: sent to the model, bytes", 1)},
		{"README.md", `running claude takes (\d+ ms)`, warm[2]},
		{"README.md", `ms instead of (\d+ ms)`, warm[1]},
		{"docs/how-to/guide.md", "`specs.All\\(\\)` are (\\w+)", word(all)},
		{"docs/reference/command.md", "A chain asks the (\\w+) CLIs of `specs.All", word(all)},
	}
}

// benchmark returns the figure in a column of the table "At a glance": 0 for clichain, 1 for os/exec.
func benchmark(t *testing.T, title string, column int) string {
	t.Helper()
	_, row, ok := strings.Cut(read(t, "docs/reference/benchmarks.md"), "\n| "+title+" | ")
	require.True(t, ok, title)
	return strings.Trim(strings.Fields(strings.Split(row, " | ")[column])[0], "*")
}

// wrapped joins names as README does, which breaks the line before the last two.
func wrapped(names []string) string {
	last := len(names) - 2
	return strings.Join(names[:last], ", ") + ",\n" + names[last] + " and " + names[last+1]
}

// README shows the demo as a terminal of 80 columns does.
func TestReadmeShowsTheDemo(t *testing.T) {
	screen, _, ok := strings.Cut(read(t, "cmd/clichain/testdata/terminal/demo-80.txt"), "\n\nNow with your own CLIs")
	require.True(t, ok)
	require.Contains(t, read(t, "README.md"), "\n```text\n"+screen+"\n```\n")
}

// earlier are the CLIs that are tested in a version of half a year ago as well.
func earlier(t *testing.T) int {
	t.Helper()
	var list struct{ Dependencies map[string]string }
	require.NoError(t, json.Unmarshal([]byte(read(t, "conformance/earlier/package.json")), &list))
	return len(list.Dependencies)
}

func TestSayings(t *testing.T) {
	checkout(t)
	for _, s := range sayings(t) {
		page := read(t, s.file)
		at := regexp.MustCompile(s.pattern).FindAllStringSubmatchIndex(page, -1)
		require.Len(t, at, 1, "%s: %s", s.file, s.pattern)
		hold(t, s.file, page[:at[0][2]]+s.figure+page[at[0][3]:])
	}
}
