package terminal

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

var styles = regexp.MustCompile("\x1b\\[[0-9;]*m")

// StyledWidth returns the width of a text without its escape codes for styles.
func StyledWidth(text string) int { return Width(styles.ReplaceAllString(text, "")) }

// Screen is a part of a terminal in which each drawing replaces the previous one. It is not safe for concurrent use.
type Screen struct {
	Out  io.Writer                   // the terminal
	Size func() (columns, lines int) // of the terminal

	drawn int // rows of the last drawing
}

// Draw replaces the last drawing with the result of content for a width. It leaves out the lines that the terminal
// does not have, because the cursor cannot move back further.
func (s *Screen) Draw(content func(width int) string) error {
	width, height := s.Size()
	lines := strings.SplitAfter(strings.TrimSuffix(content(width), "\n"), "\n")
	if most := max(height-1, 2); len(lines) > most {
		lines = append(lines[:most-1], fmt.Sprintf("… %d more lines", len(lines)-most+1))
	}
	back := start
	if s.drawn > 0 {
		back = fmt.Sprintf("\x1b[%dF", s.drawn)
	}
	s.drawn = 0
	for _, line := range lines { // the terminal breaks lines that are too long
		s.drawn += 1 + max(StyledWidth(strings.TrimSuffix(line, "\n"))-1, 0)/max(width, 1)
	}
	_, err := io.WriteString(s.Out, back+"\x1b[J"+strings.Join(lines, "")+"\n")
	return err
}
