package terminal

import (
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// Visible removes control characters and characters that change the writing direction. Then the text of a model or CLI
// cannot move the cursor, change the title of the terminal, or look like another text.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}

// OneLine returns the visible text with single blanks between its words.
func OneLine(s string) string { return Visible(strings.Join(strings.Fields(s), " ")) }

// cells measures texts independently of the locale.
var cells = runewidth.Condition{StrictEmojiNeutral: true}

// Width returns the number of columns of a text.
func Width(s string) int { return cells.StringWidth(s) }

// Shorten shortens a line to a number of columns.
func Shorten(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return cells.Truncate(s, width, "…")
}
