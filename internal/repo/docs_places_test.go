package repo_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/chaintest"
)

// addMarkers are texts that find the files of one item of each kind in the table "Where to add".
var addMarkers = map[string][]string{
	"a CLI":                          {`"qwen"`, "Qwen()"},
	"a request option with its flag": {"MaxTurns", `"max_turns"`},
	"an event kind":                  {"EventCompact", "EventThinking"},
	"a command":                      {"*cobra.Command {", "[]Flag{"},
	"a queue backend":                {"executor", "package store\n"},
}

// hasWord reports whether text contains a word that is not part of a longer identifier. A regular expression would
// take seconds for the whole repository under the race detector.
func hasWord(text, word string) bool {
	letter := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	first, _ := utf8.DecodeRuneInString(word)
	last, _ := utf8.DecodeLastRuneInString(word)
	for {
		before, after, ok := strings.Cut(text, word)
		if !ok {
			return false
		}
		left, _ := utf8.DecodeLastRuneInString(before)
		right, _ := utf8.DecodeRuneInString(after)
		if (!letter(first) || !letter(left)) && (!letter(last) || !letter(right)) {
			return true
		}
		text = after
	}
}

var codePath = regexp.MustCompile("`([a-z][a-z0-9/]*(?:\\.go|/[a-z0-9]+|))`")

// Each row of the table names exactly the files that one item of its kind needs.
func TestWhereToAdd(t *testing.T) {
	files := sources(t)
	text := section(t, chaintest.Read(t, "docs/explanation/architecture.md"), "## Where to add")
	texts := map[string]string{}
	for _, f := range files {
		if !f.test() {
			texts[f.path] = chaintest.Read(t, f.path)
		}
	}
	for kind, markers := range addMarkers {
		t.Run(kind, func(t *testing.T) {
			_, row, ok := strings.Cut(text, "| "+kind+" |")
			require.True(t, ok, "no row")
			row, _, _ = strings.Cut(row, "\n")
			unmarked := map[string]bool{}
			for _, m := range codePath.FindAllStringSubmatch(row, -1) {
				if _, err := os.Stat(m[1]); err == nil && !strings.HasSuffix(m[1], "testdata") {
					unmarked[m[1]] = true
				}
			}
			require.NotEmpty(t, unmarked)
			places := make([]string, 0, len(unmarked))
			for place := range unmarked {
				places = append(places, place)
			}
			for _, f := range files {
				if !slices.ContainsFunc(markers, func(word string) bool { return hasWord(texts[f.path], word) }) {
					continue
				}
				named := false
				for _, place := range places {
					if f.path == place || f.under(place) {
						named = true
						delete(unmarked, place)
					}
				}
				require.True(t, named, "the row does not name %s", f.path)
			}
			require.Empty(t, unmarked, "the row names places that do not have one")
		})
	}
}
