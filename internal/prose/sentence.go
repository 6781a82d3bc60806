// Package prose checks sentences of documentation, comments, error texts and test names against the rules for plain
// English in CONTRIBUTING.md. Only tests use it.
package prose

import (
	"regexp"
	"strings"
)

// Sentence is a sentence of a file. Inline code in it is the word code.
type Sentence struct {
	File string
	Line int // of the first word of its paragraph
	Text string
}

var (
	inlineCode  = regexp.MustCompile("`+[^`]+`+")
	link        = regexp.MustCompile(`!?\[([^\]]*)\](\([^)]*\))?`)
	sentenceEnd = regexp.MustCompile(`([.!?])["')]*\s+(["'(]*[A-Za-z0-9` + "`" + `])`)
	abbreviated = regexp.MustCompile(`\b(e\.g|i\.e|etc|vs|cf|No)\.$`)
	blanks      = regexp.MustCompile(`\s+`)
)

// sentences splits a paragraph.
func sentences(file string, line int, paragraph string) (out []Sentence) {
	text := link.ReplaceAllString(paragraph, "$1")
	text = inlineCode.ReplaceAllString(text, "code")
	text = strings.NewReplacer("**", "", "__", "").Replace(text)
	text = strings.TrimSpace(blanks.ReplaceAllString(text, " "))
	start := 0
	for _, at := range sentenceEnd.FindAllStringSubmatchIndex(text, -1) {
		if end := at[3]; !abbreviated.MatchString(text[start:end]) {
			out = append(out, Sentence{file, line, strings.TrimSpace(text[start:at[4]])})
			start = at[4]
		}
	}
	if rest := strings.TrimSpace(text[start:]); rest != "" {
		out = append(out, Sentence{file, line, rest})
	}
	return out
}
