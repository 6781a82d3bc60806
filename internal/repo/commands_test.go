package repo_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testCommand is a go test command of a page.
type testCommand struct {
	selects  string   // the pattern of -run, -bench or -fuzz
	packages []string // directories; a last element "..." includes those below
}

var (
	testLine = regexp.MustCompile("(?:cd ([\\w./]+) && )?(?:[A-Z_]+=\\w+ )*go test ([^`\n)#>]*)")
	testWord = regexp.MustCompile(`'[^']*'|[^\s']+(?:'[^']*')?`)
)

// testCommands returns the commands of a page that select tests.
func testCommands(page string) (commands []testCommand) {
	for _, m := range testLine.FindAllStringSubmatch(page, -1) {
		var c testCommand
		words := testWord.FindAllString(strings.ReplaceAll(m[2], `\|`, "|"), -1)
		for i, word := range words {
			word = strings.ReplaceAll(word, "'", "")
			flag, value, has := strings.Cut(word, "=")
			switch {
			case slices.Contains([]string{"-run", "-bench", "-fuzz"}, flag):
				if !has && i+1 < len(words) {
					value = strings.ReplaceAll(words[i+1], "'", "")
				}
				if value != "^$" && value != "." {
					c.selects = value
				}
			case word == "." || strings.HasPrefix(word, "./"):
				if i == 0 || !slices.Contains([]string{"-bench", "-run"}, words[i-1]) {
					c.packages = append(c.packages, path.Join(m[1], word))
				}
			}
		}
		if c.selects != "" {
			commands = append(commands, c)
		}
	}
	return commands
}

// Each go test command of a page selects tests that exist.
func TestCommandsOfThePagesSelectTests(t *testing.T) {
	checkout(t)
	functions := map[string][]string{} // by directory
	for _, f := range sources(t) {
		if f.test() {
			functions[f.dir()] = append(functions[f.dir()], functionsOf(f)...)
		}
	}
	for _, page := range append(pages(t), "README.md", "CONTRIBUTING.md") {
		for _, c := range testCommands(read(t, page)) {
			assert.NotEmpty(t, c.packages, "%s: %v", page, c)
			first, _, _ := strings.Cut(c.selects, "/")
			wanted := regexp.MustCompile(first)
			for _, dir := range c.packages {
				var names []string
				for of, list := range functions {
					if above, all := strings.CutSuffix(dir, "..."); of == dir || all && strings.HasPrefix(of+"/", above) {
						names = append(names, list...)
					}
				}
				assert.True(t, slices.ContainsFunc(names, wanted.MatchString), "%s: %s has no test %s", page, dir, c.selects)
			}
		}
	}
}

func TestGoTestsOfAPage(t *testing.T) {
	page := "`go test -run 'A\\|B' .`\n(cd conformance && X=1 go test -v ./bench ./a/... -run=^C$/d)\ngo test work\n" +
		"go test -run '^$' -bench . ./x\ngo test '-bench=D|E' -run '^$' -count=3 ./x # F\ngo test -run G\n"
	require.Equal(t, []testCommand{
		{"A|B", []string{"."}}, {"^C$/d", []string{"conformance/bench", "conformance/a/..."}}, {"D|E", []string{"x"}}, {"G", nil},
	}, testCommands(page))
}
