package prose

import (
	"regexp"
	"strings"
)

var (
	fence    = regexp.MustCompile("^\\s*(```|~~~)")
	listItem = regexp.MustCompile(`^\s*([-*+]|\d+\.)\s+`)
	heading  = regexp.MustCompile(`^#{1,6}\s+`)
	tableRow = regexp.MustCompile(`^\s*\|`)
	divider  = regexp.MustCompile(`^[\s|:-]*$`)
)

// FromMarkdown returns the sentences of a page: of its headings, paragraphs, list items and cells of tables. It leaves
// out blocks of code, quotations and comments.
func FromMarkdown(file, src string) (out []Sentence) {
	var paragraph []string
	first := 0
	flush := func() {
		out = append(out, sentences(file, first, strings.Join(paragraph, " "))...)
		paragraph = nil
	}
	code, comment := false, false
	for i, line := range strings.Split(src, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence.MatchString(line):
			flush()
			code = !code
		case code:
		case comment || strings.HasPrefix(trimmed, "<!--"):
			flush()
			comment = !strings.Contains(line, "-->")
		case paragraph == nil && strings.HasPrefix(line, "    "): // a block of code
		case trimmed == "", strings.HasPrefix(trimmed, ">"), strings.HasPrefix(trimmed, "<"):
			flush()
		case tableRow.MatchString(line):
			flush()
			for _, cell := range strings.Split(strings.ReplaceAll(line, `\|`, "/"), "|") {
				if !divider.MatchString(cell) {
					out = append(out, sentences(file, i+1, cell)...)
				}
			}
		case heading.MatchString(line):
			flush()
			out = append(out, sentences(file, i+1, heading.ReplaceAllString(line, ""))...)
		default:
			if listItem.MatchString(line) {
				flush()
				line = listItem.ReplaceAllString(line, "")
			}
			if len(paragraph) == 0 {
				first = i + 1
			}
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return out
}
