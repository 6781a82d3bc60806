// Package lines splits a byte stream into lines and limits the memory that one line may take. It does not
// interpret the lines.
package lines

import (
	"bytes"
	"cmp"
)

// DefaultMax is the longest line a Splitter with Max 0 keeps, in bytes.
const DefaultMax = 16 << 20

// Splitter is an [io.Writer] that calls Line once for each line written to it. It skips and counts a line
// longer than Max; the lines after it stay intact. The zero value with a Line func works. It is not safe for
// concurrent use.
type Splitter struct {
	// Line receives each line without its line ending ("\n" or "\r\n"). The slice is valid only during the
	// call.
	Line func(line []byte)
	// Max is the length in bytes of the longest line that Line receives. Zero means DefaultMax.
	Max int
	// Skipped counts the lines that were longer than Max.
	Skipped int

	partial  []byte // the current line so far, if it spans writes
	skipping bool   // the current line is longer than Max
}

// Write processes the next part of the stream. It never fails.
func (s *Splitter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			s.keep(p)
			break
		}
		s.finish(p[:end])
		p = p[end+1:]
	}
	return n, nil
}

// Close delivers a last line that has no newline. It never fails.
func (s *Splitter) Close() error {
	if len(s.partial) > 0 || s.skipping {
		s.finish(nil)
	}
	return nil
}

// keep appends to the line that spans writes, unless the line has become too long.
func (s *Splitter) keep(piece []byte) {
	switch {
	case s.skipping:
	case len(s.partial)+len(piece) > s.max():
		s.skipping, s.partial = true, s.partial[:0]
	default:
		s.partial = append(s.partial, piece...)
	}
}

// finish ends the current line with piece. It delivers a line that lies inside one write without a copy.
func (s *Splitter) finish(piece []byte) {
	line := piece
	if len(s.partial) > 0 || s.skipping {
		s.keep(piece)
		line = s.partial
	}
	if s.skipping || len(line) > s.max() {
		s.Skipped++
	} else {
		s.Line(bytes.TrimSuffix(line, []byte{'\r'}))
	}
	s.partial, s.skipping = s.partial[:0], false
}

func (s *Splitter) max() int { return cmp.Or(max(s.Max, 0), DefaultMax) }
