package terminal

import (
	"io"
	"sync"
)

// Line is a line that is redrawn in place below the output of the streams of [Line.Over]. It is safe for concurrent
// use.
type Line struct {
	Out   io.Writer  // the terminal
	Width func() int // its columns

	mu     sync.Mutex
	drawn  bool
	within bool // a stream is in the middle of a line, so the line cannot be drawn
}

const (
	start = "\r"     // back to the first column
	erase = "\x1b[K" // from the cursor to the end of the line
)

// Draw replaces the line with the result of content for a width. The last column stays free, because a full line would
// move the cursor.
func (l *Line) Draw(content func(width int) string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.within {
		return
	}
	// A write error of the terminal does not fail the command.
	_, _ = io.WriteString(l.Out, start+content(max(l.Width()-1, 0))+erase)
	l.drawn = true
}

// Clear removes the line until the next Draw.
func (l *Line) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

func (l *Line) clear() {
	if l.drawn {
		_, _ = io.WriteString(l.Out, start+erase)
		l.drawn = false
	}
}

// Over returns a stream whose output appears above the line.
func (l *Line) Over(w io.Writer) io.Writer { return &stream{l, w} }

// stream is a writer that removes the line before a write.
type stream struct {
	line *Line
	to   io.Writer
}

func (s *stream) Write(data []byte) (int, error) {
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	s.line.clear()
	if len(data) > 0 {
		s.line.within = data[len(data)-1] != '\n'
	}
	return s.to.Write(data)
}

// Fd returns the descriptor of the underlying file, or an invalid descriptor.
func (s *stream) Fd() uintptr {
	if f, ok := s.to.(file); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}
