package clichain_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// addMarkers find the files of one thing of each kind that the table "Where to add" is about.
var addMarkers = map[string]*regexp.Regexp{
	"a CLI":                          regexp.MustCompile(`"qwen"|\bQwen\(\)`),
	"a request option with its flag": regexp.MustCompile(`\bMaxTurns\b|"max_turns"`),
	"an event kind":                  regexp.MustCompile(`\bEvent(Compact|Thinking)\b`),
	"a command":                      regexp.MustCompile(`\*cobra\.Command \{|\[\]Flag\{`),
	"a queue backend":                regexp.MustCompile(`(?m)\bexecutor\b|^package store$`),
}

var codePath = regexp.MustCompile("`([a-z][a-z0-9/]*(?:\\.go|/[a-z0-9]+|))`")

// TestWhereToAdd: each row of the table names the files that one of its kind takes, and no others.
func TestWhereToAdd(t *testing.T) {
	files := sources(t)
	text := section(t, read(t, "docs/architecture.md"), "## Where to add")
	for kind, marker := range addMarkers {
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
				if f.test() || !marker.MatchString(read(t, f.path)) {
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
