// Package semver finds version numbers in the output of programs and compares them. It accepts the formats of all
// programs: two or more numbers, with an optional "v" before them and an optional pre-release or build mark after them.
package semver

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/pattern"
)

var (
	whole = pattern.Of(`^v?\d+(?:\.\d+)+(?:-[0-9A-Za-z.-]*[0-9A-Za-z])?(?:\+[0-9A-Za-z.-]+)?$`)
	// early matches the start of a mark that precedes the version without the mark. Any other mark, such as a hash or a
	// platform, denotes a build and does not affect the order.
	early = pattern.Of(`^(?i:alpha|beta|rc|pre|preview|nightly|canary|dev|next|snapshot|insiders?)(?:[^A-Za-z]|$)`)
	parts = pattern.Of(`\d+|[A-Za-z]+`)
)

// Valid reports whether a text is exactly a version, such as "2.1.0", "v0.170.0-alpha.3" or "2026.08.25-1f2e".
func Valid(text string) bool { return whole().MatchString(text) }

// Find returns the first version in a text, such as "2.1.329" in "2.1.329 (Claude Code)". It returns "" if there is
// none.
func Find(text string) string {
	numbers, mark := find(text)
	if mark != "" {
		return numbers + "-" + mark
	}
	return numbers
}

// Less reports whether the first version in a precedes the first version in b. It returns false if either has none.
func Less(a, b string) bool {
	x, xMark := find(a)
	y, yMark := find(b)
	return x != "" && y != "" && cmp.Or(compareNumbers(x, y), compareMarks(xMark, yMark)) < 0
}

// find returns the numbers of the first version in a text, two or more with dots between them, and the mark after a
// dash.
func find(text string) (numbers, mark string) {
	for i := strings.IndexAny(text, digits); i >= 0; i = strings.IndexAny(text, digits) {
		text = text[i:]
		end := endOf(text)
		if numbers = text[:end]; strings.Contains(numbers, ".") {
			return numbers, markOf(text[end:])
		}
		text = text[end:]
	}
	return "", ""
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// endOf returns the end of the numbers at the start of a text.
func endOf(text string) (end int) {
	for end < len(text) && (isDigit(text[end]) || text[end] == '.' && end+1 < len(text) && isDigit(text[end+1])) {
		end++
	}
	return end
}

// markOf returns the mark after a dash at the start of a text.
func markOf(text string) string {
	mark, ok := strings.CutPrefix(text, "-")
	if !ok {
		return ""
	}
	rest := strings.TrimLeft(mark, digits+letters+".-")
	return strings.TrimRight(mark[:len(mark)-len(rest)], ".-")
}

// compareNumbers compares lists of numbers. A missing number counts as 0.
func compareNumbers(a, b string) (order int) {
	for order == 0 && (a != "" || b != "") {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		order = comparePart(cmp.Or(x, "0"), cmp.Or(y, "0"))
	}
	return order
}

func compareMarks(a, b string) int {
	switch before, after := early().MatchString(a), early().MatchString(b); {
	case before && after:
		return slices.CompareFunc(parts().FindAllString(a, -1), parts().FindAllString(b, -1), comparePart)
	case before:
		return -1
	case after:
		return 1
	}
	return 0
}

// comparePart compares numbers of any length by value. A number precedes a word.
func comparePart(a, b string) int {
	if isDigit(a[0]) && isDigit(b[0]) {
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}
	return cmp.Compare(strings.ToLower(a), strings.ToLower(b))
}
