package terminal

import (
	"io"
	"sync"
)

// Line is one line that is drawn again and again in its place, below what goes to the streams of [Line.Over]. It is
// safe for concurrent use.
type Line struct {
	Out   io.Writer  // the terminal
	Width func() int // its columns

	mu     sync.Mutex
	drawn  bool
	within bool // text of a stream has not come to the end of its line: there is no place to draw
}

const (
	start = "\r"     // back to the first column
	erase = "\x1b[K" // from the cursor to the end of the line
)

// Draw shows what content makes for a width, in place of what was there. The last column stays free, because a full
// line would move the cursor.
func (l *Line) Draw(content func(width int) string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.within {
		return
	}
	// A terminal that cannot be written to is no reason to fail.
	_, _ = io.WriteString(l.Out, start+content(max(l.Width()-1, 0))+erase)
	l.drawn = true
}

// Clear removes the line until it is drawn again.
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

// Over makes a stream that may share the screen with the line: whatever is written to it stands above.
func (l *Line) Over(w io.Writer) io.Writer { return &stream{l, w} }

// stream is a writer in whose way the line does not get.
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

// Fd is that of the file below. Without one it is no descriptor.
func (s *stream) Fd() uintptr {
	if f, ok := s.to.(file); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}
