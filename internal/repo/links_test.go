package repo_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	pageLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns the anchors of the headings of a page.
func anchors(page string) (found []string) {
	for _, h := range pageHeading.FindAllStringSubmatch(pageFence.ReplaceAllString(page, ""), -1) {
		anchor := notInAnchor.ReplaceAllString(strings.ToLower(h[1]), "")
		found = append(found, strings.ReplaceAll(strings.TrimSpace(anchor), " ", "-"))
	}
	return found
}

// linkProblems returns the links of the page file that lead nowhere. The function text returns the text of a file.
func linkProblems(file, page string, text func(file string) (string, error)) (problems []string) {
	page = inlineCode.ReplaceAllString(pageFence.ReplaceAllString(page, ""), "")
	for _, m := range pageLink.FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[1], ":") {
			continue // of another site
		}
		target, anchor, _ := strings.Cut(m[1], "#")
		if target = path.Join(path.Dir(file), target); strings.HasPrefix(m[1], "#") {
			target = file
		}
		there, err := text(target)
		if err == nil && anchor != "" && !slices.Contains(anchors(there), anchor) {
			err = fmt.Errorf("no heading for #%s", anchor)
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: link to %s: %v", file, m[1], err))
		}
	}
	return problems
}

func TestLinksOfThePages(t *testing.T) {
	text := func(file string) (string, error) {
		name := filepath.FromSlash(file)
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			return "", err
		}
		data, err := os.ReadFile(name)
		return string(data), err
	}
	files := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/README.md"}
	for file := range docPages(t) {
		files = append(files, "docs/"+file)
	}
	for _, file := range files {
		for _, problem := range linkProblems(file, read(t, file), text) {
			t.Error(problem)
		}
	}
}

func TestLinkProblemsFindsMistakes(t *testing.T) {
	text := func(file string) (string, error) {
		if file != "docs/a.md" {
			return "", os.ErrNotExist
		}
		return "# A `title`, here\n\n```sh\n# no heading\n```\n", nil
	}
	require.Empty(t, linkProblems("docs/b.md", "[a](a.md) [b](a.md#a-title-here) [c](https://example.com) `x[0](y)`", text))
	require.Empty(t, linkProblems("docs/a.md", "[b](#a-title-here)", text))
	for _, bad := range []string{"[a](b.md)", "[a](a.md#title)", "[a](a.md#no-heading)", "[a](../a.md)"} {
		require.Len(t, linkProblems("docs/c.md", bad, text), 1, bad)
	}
}
