package terminal

import (
	"cmp"
	"slices"
	"strings"
)

// Part is a piece of a line. Where there is no room for all, the least important go first.
type Part struct {
	Text       string
	Importance int
}

// Fit joins the parts that have a text to a line of at most width columns. What is left alone is cut.
func Fit(width int, parts ...Part) string {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Text == "" })
	for len(parts) > 1 && Width(join(parts)) > width {
		least := slices.MinFunc(parts, func(a, b Part) int { return cmp.Compare(a.Importance, b.Importance) })
		parts = slices.DeleteFunc(parts, func(p Part) bool { return p == least })
	}
	return Shorten(join(parts), width)
}

func join(parts []Part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "  ")
}
