// Package semver finds version numbers in what programs say of themselves, and compares them. It takes the form of each
// program as it is: two numbers or more, a "v" in front, a pre-release or the mark of a build behind.
package semver

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/pattern"
)

var (
	whole = pattern.Of(`^v?\d+(?:\.\d+)+(?:-[0-9A-Za-z.-]*[0-9A-Za-z])?(?:\+[0-9A-Za-z.-]+)?$`)
	// early is how the mark of a version begins that comes before the one without it. Any other mark is that of a
	// build, such as a hash or a platform, which comes neither before nor after.
	early = pattern.Of(`^(?i:alpha|beta|rc|pre|preview|nightly|canary|dev|next|snapshot|insiders?)(?:[^A-Za-z]|$)`)
	parts = pattern.Of(`\d+|[A-Za-z]+`)
)

// Valid reports whether a text is a version and nothing else, such as "2.1.0", "v0.170.0-alpha.3" or "2026.08.25-1f2e".
func Valid(text string) bool { return whole().MatchString(text) }

// Find returns the first version in a text, "2.1.329" for "2.1.329 (Claude Code)"; it is empty where there is none.
func Find(text string) string {
	numbers, mark := find(text)
	if mark != "" {
		return numbers + "-" + mark
	}
	return numbers
}

// Less reports whether the first version in a comes before that in b. Without one in both of them it returns false.
func Less(a, b string) bool {
	x, xMark := find(a)
	y, yMark := find(b)
	return x != "" && y != "" && cmp.Or(compareNumbers(x, y), compareMarks(xMark, yMark)) < 0
}

// find returns the numbers of the first version in a text, two or more with dots between them, and what follows a dash.
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

// endOf is where the numbers at the beginning of a text end.
func endOf(text string) (end int) {
	for end < len(text) && (isDigit(text[end]) || text[end] == '.' && end+1 < len(text) && isDigit(text[end+1])) {
		end++
	}
	return end
}

// markOf is what stands behind a dash at the beginning of a text.
func markOf(text string) string {
	mark, ok := strings.CutPrefix(text, "-")
	if !ok {
		return ""
	}
	rest := strings.TrimLeft(mark, digits+letters+".-")
	return strings.TrimRight(mark[:len(mark)-len(rest)], ".-")
}

// compareNumbers takes a number that is missing for zero.
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

// comparePart compares numbers of any length by their value, and puts them before words.
func comparePart(a, b string) int {
	if isDigit(a[0]) && isDigit(b[0]) {
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}
	return cmp.Compare(strings.ToLower(a), strings.ToLower(b))
}
