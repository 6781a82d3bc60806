// Package lines splits a byte stream into lines and bounds the memory that a
// line may take. It does not look into the lines and does no I/O of its own.
package lines

import (
	"bytes"
	"cmp"
)

// DefaultMax is the longest line a Splitter with Max 0 keeps, in bytes.
const DefaultMax = 16 << 20

// Splitter is an [io.Writer] that calls Line once for each line written to it. A line over Max is skipped and counted;
// the lines after it are intact. The zero value with a Line func works. It is not safe for concurrent use.
type Splitter struct {
	// Line gets each line without its end ("\n" or "\r\n"). The slice is valid during the call only.
	Line func(line []byte)
	// Max is the longest line kept, in bytes. Zero: DefaultMax.
	Max int
	// Skipped counts the lines that were over Max.
	Skipped int

	partial  []byte // the line so far, when it spans writes
	skipping bool   // the current line is over Max
}

// Write takes the next piece of the stream. It never fails.
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

// Close delivers a last line without a newline. It never fails.
func (s *Splitter) Close() error {
	if len(s.partial) > 0 || s.skipping {
		s.finish(nil)
	}
	return nil
}

// keep adds to the line that spans writes, unless it has become too long.
func (s *Splitter) keep(piece []byte) {
	switch {
	case s.skipping:
	case len(s.partial)+len(piece) > s.max():
		s.skipping, s.partial = true, s.partial[:0]
	default:
		s.partial = append(s.partial, piece...)
	}
}

// finish ends the current line with piece. A whole line inside one write is delivered without a copy.
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
