package repo_test

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// The templates of the forms, which CONTRIBUTING.md describes.
var (
	pageFence  = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	step       = regexp.MustCompile(`(?m)^## (\d+)\. `)
	heading2   = regexp.MustCompile(`(?m)^## `)
	numbered   = regexp.MustCompile(`(?m)^\d+\. `)
	tableRule  = regexp.MustCompile(`(?m)^\|---`)
	quotation  = regexp.MustCompile(`"[^"\n]*"`)
	narrative  = regexp.MustCompile(`\b([Yy]ours?|[Yy]ou|[Ww]e|[Oo]ur|us|I)\b`)
	imperative = regexp.MustCompile(`^(Ask|Check|Deploy|Export|Get|Give|Keep|Monitor|Operate|Run|Serve|Test|Use|Write) `)
	purpose    = map[string]*regexp.Regexp{
		"tutorial": regexp.MustCompile(`This tutorial `), "how-to": regexp.MustCompile(`This (guide|page) shows \w* ?how to `),
		"reference": regexp.MustCompile(`This page `), "explanation": regexp.MustCompile(`This page `),
	}
)

// formProblems says where a page differs from the template of its form.
func formProblems(form, page string) (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	lines := strings.Split(page, "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "# ") || lines[1] != "" {
		return []string{"begin with a title and an empty line"}
	}
	intro, _, _ := strings.Cut(strings.Join(lines[2:], "\n"), "\n\n")
	if !purpose[form].MatchString(intro) || strings.Count(intro, "\n") > 6 {
		add("begin with a paragraph of at most seven lines that has %q and the purpose of the page", purpose[form])
	}
	text := quotation.ReplaceAllString(inlineCode.ReplaceAllString(pageFence.ReplaceAllString(page, ""), ""), "")
	blocks := pageFence.FindAllStringSubmatch(page, -1)
	languages := []string{}
	for _, b := range blocks {
		languages = append(languages, b[1])
	}
	switch form {
	case "tutorial":
		return append(problems, tutorialProblems(page, languages)...)
	case "how-to":
		if !imperative.MatchString(lines[0][2:]) {
			add("let the title name a task: %q", lines[0])
		}
		if len(blocks) == 0 {
			add("show a command or a program")
		}
	case "reference":
		if !tableRule.MatchString(page) {
			add("have a table")
		}
		if found := narrative.FindString(text); found != "" {
			add("describe without %q", found)
		}
	case "explanation":
		if numbered.MatchString(text) || step.MatchString(text) {
			add("explain without numbered steps")
		}
		if slices.Contains(languages, "sh") {
			add("move commands to a how-to guide")
		}
	}
	return problems
}

func tutorialProblems(page string, languages []string) (problems []string) {
	steps := step.FindAllStringSubmatch(page, -1)
	for i, s := range steps {
		if s[1] != fmt.Sprint(i+1) {
			problems = append(problems, fmt.Sprintf("number the steps in order: %s is step %d", s[1], i+1))
		}
	}
	parts := heading2.Split(page, -1)[1:]
	for i := range steps {
		if i >= len(parts) || !strings.Contains(parts[i], "\n```") {
			problems = append(problems, fmt.Sprintf("show code in step %d", i+1))
		}
	}
	if len(steps) < 3 {
		problems = append(problems, "have three numbered steps")
	}
	if !slices.Contains(languages, "text") {
		problems = append(problems, "show the output of a step")
	}
	return problems
}

// recordProblems says where a decision record differs from its template.
func recordProblems(page string) (problems []string) {
	at := -1
	for _, section := range []string{"\n## Context\n", "\n## Decision\n", "\n## Consequences\n"} {
		next := strings.Index(page, section)
		if next <= at {
			problems = append(problems, fmt.Sprintf("have the section %q in its place", strings.TrimSpace(section)))
		}
		at = max(at, next)
	}
	return problems
}

// docPages returns the pages below docs: the paths from there, with their texts.
func docPages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"docs/*/*.md", "docs/explanation/adr/*.md"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			found[strings.TrimPrefix(filepath.ToSlash(file), "docs/")] = read(t, filepath.ToSlash(file))
		}
	}
	return found
}

func TestPagesFollowTheirForm(t *testing.T) {
	index := read(t, "docs/README.md")
	for file, page := range docPages(t) {
		if strings.Contains(file, "/adr/") {
			require.Empty(t, recordProblems(page), file)
			continue
		}
		for _, problem := range formProblems(path.Dir(file), page) {
			t.Errorf("%s: %s", file, problem)
		}
		if strings.Count(index, "]("+file+")") != 1 {
			t.Errorf("docs/README.md should have one line with a link to %s", file)
		}
	}
}

func TestFormProblemsFindsMistakes(t *testing.T) {
	good := map[string]string{
		"tutorial": "# First\n\nThis tutorial does it.\n\n## 1. A\n\n```sh\na\n```\n\n```text\nb\n```\n\n## 2. B\n\n```sh\na\n```\n\n" +
			"## 3. C\n\n```sh\na\n```\n\n## Next\n\nRead on.\n",
		"how-to":      "# Use it\n\nThis guide shows you how to use it.\n\n```sh\na\n```\n",
		"reference":   "# Words\n\nThis page lists words.\n\n| a | b |\n|---|---|\n| `you` | c |\n",
		"explanation": "# Why\n\nThis page explains why.\n\n- Because.\n",
	}
	for form, page := range good {
		require.Empty(t, formProblems(form, page), form)
	}
	for _, test := range []struct{ form, old, new, want string }{
		{"tutorial", "## 2. B", "## 3. B", "number the steps"},
		{"tutorial", "## 3. C\n\n```sh\na\n```", "## 3. C", "show code in step 3"},
		{"tutorial", "```text\nb\n```\n", "", "show the output"},
		{"tutorial", "## 3. C", "## C", "three numbered steps"},
		{"how-to", "# Use it", "# Usage", "name a task"},
		{"how-to", "```sh\na\n```\n", "", "show a command"},
		{"how-to", "This guide shows", "It shows", "begin with a paragraph"},
		{"reference", "|---|---|\n", "", "have a table"},
		{"reference", "lists words", "lists what you need", `without "you"`},
		{"reference", "# Words\n\n", "# Words\n", "begin with a title"},
		{"explanation", "- Because", "1. First", "without numbered steps"},
		{"explanation", "- Because.", "```sh\na\n```", "move commands"},
	} {
		page := strings.Replace(good[test.form], test.old, test.new, 1)
		require.NotEqual(t, good[test.form], page)
		require.Contains(t, strings.Join(formProblems(test.form, page), "\n"), test.want)
	}
	require.Empty(t, recordProblems("# 1\n\n## Context\n\n## Decision\n\n## Consequences\n"))
	require.Len(t, recordProblems("# 1\n\n## Decision\n\n## Context\n\n## Consequences\n"), 1)
}

// blockProblems says what is wrong with the code blocks of a page. JSON and YAML must parse, and Go must be formatted and
// appear in one of the sources, whose tests compile it.
func blockProblems(page string, sources string) (problems []string) {
	for _, b := range pageFence.FindAllStringSubmatch(page, -1) {
		var err error
		switch b[1] {
		case "json":
			err = json.Unmarshal([]byte(b[2]), new(any))
		case "yaml":
			err = yaml.Load([]byte(b[2]), new(any))
		case "go":
			var formatted []byte
			if formatted, err = format.Source([]byte(b[2])); err == nil && string(formatted) != b[2] {
				err = fmt.Errorf("not formatted")
			}
			if err == nil && !strings.Contains(sources, unindented(b[2])) {
				err = fmt.Errorf("no test compiles it")
			}
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("%v:\n%s", err, b[2]))
		}
	}
	return problems
}

// unindented removes the indentation of the lines.
func unindented(text string) string {
	return regexp.MustCompile(`(?m)^[ \t]+`).ReplaceAllString(text, "")
}

// compiled are the pages whose Go blocks are not part of a source file, with the test that compiles them.
var compiled = map[string]string{
	"reference/specs.md": "TestInstancesPage", "how-to/first-program.md": "TestReadmeCompiles", "how-to/test-a-spec.md": "TestTheKitOutside",
	"how-to/test-without-a-cli.md": "TestReplayOutside",
}

func TestBlocksOfThePagesCompile(t *testing.T) {
	checkout(t)
	var sources strings.Builder
	for _, pattern := range []string{"*_test.go", "internal/repo/*_test.go", "internal/chaintest/*/*_test.go", "examples/*/*.go", "jetstream/*_test.go", "otel/*_test.go", "hosttools/*_test.go", "conversation/*_test.go", "cooldown/*_test.go", "quota/*_test.go"} {
		files, err := filepath.Glob(filepath.FromSlash(pattern))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			sources.WriteString(unindented(string(text)))
		}
	}
	names := testFunctions(t)
	for file, page := range docPages(t) {
		if test := compiled[file]; test != "" {
			require.True(t, names[test], test)
			continue
		}
		require.Empty(t, blockProblems(page, sources.String()), file)
	}
}

func TestBlockProblemsFindsMistakes(t *testing.T) {
	block := func(language, text string) string { return "\n```" + language + "\n" + text + "\n```\n" }
	require.Empty(t, blockProblems(block("json", "{}")+block("yaml", "a: 1")+block("go", "f()")+block("sh", "x"), "a\nf()\n"))
	for _, bad := range []string{
		block("json", "{"), block("yaml", "a: ["), block("go", "f("), block("go", " f()"), block("go", "g()"),
	} {
		require.Len(t, blockProblems(bad, "f()\n"), 1, bad)
	}
}
