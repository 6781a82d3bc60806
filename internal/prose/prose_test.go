package prose_test

import (
	"strings"
	"testing"

	"github.com/clichain/clichain/internal/prose"
	"github.com/stretchr/testify/require"
)

func TestProblemsFindsEachRule(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"What is in flight may finish.", "name the thing"},
		{"Where no backend is left, the chain ends.", `write "if"`},
		{"It fails where there is no login.", `write "if"`},
		{"Whoever adds a flag documents it.", "name the thing"},
		{"Somebody must read the stream.", "name the caller"},
		{"A client who waits gets the error.", "name the caller"},
		{"The chain goes on.", "continues"},
		{"Requests on their way finish.", "in flight"},
		{"The caller is told.", "write who reports it"},
		{"The answer is held against the schema.", "validate"},
		{"It is up to the caller.", "name who decides"},
		{"A process with a session of its own survives.", "its own session"},
		{"The backend rests for an hour.", "cools down"},
		{"A stranger's directory has no influence.", "standard term"},
		{"The folder is private.", "directory"},
		{"The job failed for good.", "permanently"},
		{"This behaviour changed.", "American"},
		{strings.Repeat("word ", prose.MaxWords+1), "31 words"},
	} {
		t.Run(test.text, func(t *testing.T) {
			problems := prose.Problems(prose.Sentence{Text: test.text})
			require.Contains(t, strings.Join(problems, "\n"), test.want)
		})
	}
}

func TestProblemsAcceptsPlainSentences(t *testing.T) {
	for _, text := range []string{
		"What does it cost?",
		"The chain asks the next backend when the first one fails.",
		"The rest of the budget goes to the last backend.",
		"A name has letters, digits and hyphens.",
	} {
		require.Empty(t, prose.Problems(prose.Sentence{Text: text}), text)
	}
}

func texts(found []prose.Sentence) (out []string) {
	for _, s := range found {
		out = append(out, s.Text)
	}
	return out
}

func TestFromMarkdown(t *testing.T) {
	page := "# A title\n\nOne sentence. Another with `code. Here` and a\n[link](x.md). See e.g. Go.\n\n" +
		"- an item\n  that continues\n- a second\n\n| head | cell two |\n|---|---|\n| a\\|b | c |\n\n" +
		"```go\ncode\n```\n<!-- a comment\nthat is long -->\n> quoted\n"
	found := prose.FromMarkdown("page.md", page)
	require.Equal(t, []string{
		"A title", "One sentence.", "Another with code and a link.", "See e.g. Go.", "an item that continues", "a second",
		"head", "cell two", "a/b", "c",
	}, texts(found))
	require.Equal(t, prose.Sentence{File: "page.md", Line: 3, Text: "One sentence."}, found[1])
}

func TestFromGo(t *testing.T) {
	const src = `// Package p does this. It does that.
//
//	code
//
//   - an item
package p

//go:generate something with many words

const help = "The first half " +
	"and the second."

var pattern = "(?i)not a sentence at all"

func f() error { return errors.New("short one") }

// ExampleX prints.
//
// Output:
// not a sentence
`
	found, err := prose.FromGo("p.go", src)
	require.NoError(t, err)
	require.Equal(t, []string{
		"Package p does this.", "It does that.", "an item", "ExampleX prints.", "The first half and the second.",
	}, texts(found))
}

func TestFromGoReadsCaseNamesOfTests(t *testing.T) {
	const src = `package p

var cases = []c{{name: "usage limit", text: "the words of a CLI are data"}}

func TestX(t *testing.T) { t.Run("a case", nil); log("this is no name at all") }
`
	found, err := prose.FromGo("p_test.go", src)
	require.NoError(t, err)
	require.Equal(t, []string{"usage limit", "a case"}, texts(found))
}

func TestCheckSubject(t *testing.T) {
	for _, subject := range []string{
		"live: wait for Close before reuse", "internal/proc, live: end the watchdog", ".ci: run the prose check", "README: begin with the demo",
	} {
		require.NoError(t, prose.CheckSubject(subject), subject)
	}
	for subject, want := range map[string]string{
		"Count the tests again":            "form",
		"live tests: wait":                 "form",
		"live: wait for Close.":            "full stop",
		"docs: let the test command be it": "verb",
		"live: " + strings.Repeat("x", 70): "76 characters",
	} {
		require.ErrorContains(t, prose.CheckSubject(subject), want, subject)
	}
}
