package terminal

import (
	"cmp"
	"slices"
	"strings"
)

// Part is a piece of a line. If a line is too narrow, the least important parts are left out first.
type Part struct {
	Text       string
	Importance int
}

// Fit joins the parts that have a text to a line of at most width columns. It shortens a last remaining part.
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
