package cassette

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a difference.
const (
	contextLines = 2   // unchanged lines to show around a change
	maxDiff      = 60  // lines to show
	maxCompared  = 500 // changed lines for which the shortest difference is searched
	maxLineText  = 160 // bytes to show of a line
	maxShortText = 60  // the same in an error of one line
)

// edit is a line of a difference. Its op is '-', '+' or ' '.
type edit struct {
	op   byte
	text string
}

// edits returns the difference of two lists of lines.
func edits(from, to []string) (list []edit) {
	head, tail := 0, 0
	for head < min(len(from), len(to)) && from[head] == to[head] {
		head++
	}
	for tail < min(len(from), len(to))-head && from[len(from)-1-tail] == to[len(to)-1-tail] {
		tail++
	}
	same := func(lines []string) {
		for _, line := range lines {
			list = append(list, edit{' ', line})
		}
	}
	same(from[:head])
	list = append(list, changed(from[head:len(from)-tail], to[head:len(to)-tail])...)
	same(from[len(from)-tail:])
	return list
}

// changed returns the difference of lists that begin and end with different lines. For long lists, it removes all
// lines and adds all lines.
func changed(from, to []string) (list []edit) {
	n, m := len(from), len(to)
	if n > maxCompared || m > maxCompared {
		n, m = 0, 0
	}
	longest := make([][]int, n+1) // length of the longest common subsequence from i and j
	for i := range longest {
		longest[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if from[i] == to[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < n && j < m {
		switch {
		case from[i] == to[j]:
			list = append(list, edit{' ', from[i]})
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			list = append(list, edit{'-', from[i]})
			i++
		default:
			list = append(list, edit{'+', to[j]})
			j++
		}
	}
	for _, line := range from[i:] {
		list = append(list, edit{'-', line})
	}
	for _, line := range to[j:] {
		list = append(list, edit{'+', line})
	}
	return list
}

// Diff returns the difference of two requests as lines of their JSON: those of the first one begin with "-", those of
// the second one with "+". It is empty if the requests are equal.
func Diff(from, to Request) string {
	var b strings.Builder
	list := edits(from.lines(), to.lines())
	shown, gap := 0, false
	for i, e := range list {
		if !near(list, i) {
			gap = true
			continue
		}
		if shown++; shown > maxDiff {
			b.WriteString("  …\n")
			break
		}
		if gap && b.Len() > 0 {
			b.WriteString("  …\n")
		}
		gap = false
		fmt.Fprintf(&b, "%c %s\n", e.op, visible(e.text, partner(list, i), maxLineText))
	}
	return b.String()
}

// near reports whether a line is a change or beside one.
func near(list []edit, i int) bool {
	for _, e := range list[max(0, i-contextLines):min(len(list), i+contextLines+1)] {
		if e.op != ' ' {
			return true
		}
	}
	return false
}

// FirstChange returns the first changed line of two requests in both, without indentation. The text of a line that was
// added or removed is empty in the other one.
func FirstChange(from, to Request) (old, now string) {
	list := edits(from.lines(), to.lines())
	for i, e := range list {
		other := partner(list, i)
		switch e.op {
		case '-':
			return short(e.text, other), short(other, e.text)
		case '+':
			return "", short(e.text, "")
		}
	}
	return "", ""
}

func short(line, other string) string {
	return visible(strings.TrimSpace(line), strings.TrimSpace(other), maxShortText)
}

// partner returns the line that a changed line replaces or that replaces it, or "".
func partner(list []edit, i int) string {
	op := list[i].op
	if op == ' ' {
		return ""
	}
	first := i // of the changes around i
	for first > 0 && list[first-1].op != ' ' {
		first--
	}
	var ours, others []int
	for k := first; k < len(list) && list[k].op != ' '; k++ {
		if list[k].op == op {
			ours = append(ours, k)
		} else {
			others = append(others, k)
		}
	}
	for k, at := range ours {
		if at == i && k < len(others) {
			return list[others[k]].text
		}
	}
	return ""
}

// visible returns a line with escapes for characters that a terminal does not show. It cuts a long line so that the
// first difference to the other line is in it.
func visible(line, other string, limit int) string {
	same := 0
	for same < min(len(line), len(other)) && line[same] == other[same] {
		same++
	}
	before, after := "", ""
	if start := same - limit/2; len(line) > limit && start > 0 {
		for start < len(line) && !utf8.RuneStart(line[start]) {
			start++
		}
		before, line = "…", line[start:]
	}
	if end := limit; len(line) > end {
		for !utf8.RuneStart(line[end]) {
			end--
		}
		after, line = "…", line[:end]
	}
	var b strings.Builder
	for _, r := range line {
		if r == ' ' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return before + b.String() + after
}
