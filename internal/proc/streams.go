package proc

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

// streams are the three pipes to a program and the goroutines that serve them. They replace those of os/exec,
// whose Wait can block on a reader forever.
type streams struct {
	child  [3]*os.File // the program's ends
	stdin  *feeder     // nil for /dev/null
	stdout *reader
	stderr *reader

	failed chan struct{} // closed at the first failure of a Writer
	once   sync.Once
	err    error
}

func openStreams(c Command) (*streams, error) {
	s := &streams{failed: make(chan struct{})}
	err := s.open(c)
	if err != nil {
		s.closeChildEnds()
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *streams) open(c Command) (err error) {
	switch {
	case c.Input != nil:
		s.stdin = &feeder{input: c.Input, done: make(chan struct{})}
	case c.Stdin != nil:
		s.stdin = &feeder{input: io.NopCloser(bytes.NewReader(c.Stdin)), whole: true, done: make(chan struct{})}
	}
	if s.stdin == nil {
		s.child[0], err = os.Open(os.DevNull)
	} else {
		s.child[0], err = s.stdin.open()
	}
	if err != nil {
		return err
	}
	s.stdout = newReader(c.Stdout, c.Capture, c.Limit, s.fail)
	s.stdout.file, s.child[1], err = os.Pipe()
	if err != nil {
		return err
	}
	s.stderr = newReader(c.Stderr, c.Capture, 0, s.fail)
	s.stderr.file, s.child[2], err = os.Pipe()
	return err
}

// closeChildEnds closes this process's copies of the program's ends, so that only the program keeps its output
// open. The feeder keeps its copy.
func (s *streams) closeChildEnds() {
	for _, f := range s.child {
		if f != nil && (s.stdin == nil || f != s.stdin.peer) {
			_ = f.Close() // nothing was written to it
		}
	}
}

// close closes this process's ends of pipes that no goroutine serves.
func (s *streams) close() {
	if s.stdin != nil {
		s.stdin.close()
	}
	for _, r := range []*reader{s.stdout, s.stderr} {
		if r != nil && r.file != nil {
			_ = r.file.Close() // nothing was read from it
		}
	}
}

func (s *streams) begin() {
	if s.stdin != nil {
		go s.stdin.feed()
	}
	go s.stdout.read()
	go s.stderr.read()
}

func (s *streams) fail(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.failed)
	})
}

func (s *streams) failure() error {
	select {
	case <-s.failed:
		return s.err
	default:
		return nil
	}
}

// holdStdin stops writing input without closing it; see feeder.hold.
func (s *streams) holdStdin() (delivered, untouched bool) {
	if s.stdin == nil {
		return true, false
	}
	return s.stdin.hold()
}

// drain ends all goroutines. It reports whether the output had ended by then and was delivered completely.
func (s *streams) drain(limit time.Duration) (complete bool) {
	if s.stdin != nil {
		s.stdin.end()
	}
	deadline := time.Now().Add(limit)
	s.stdout.stopAt(deadline)
	s.stderr.stopAt(deadline)
	timer := time.NewTimer(2 * limit) // after that, drain abandons a Writer that does not return
	defer timer.Stop()
	complete = true
	for _, r := range []*reader{s.stdout, s.stderr} {
		select {
		case <-r.done:
			complete = complete && r.ended
		case <-timer.C:
			complete = false
			timer.Reset(0)    // do not wait for the second reader
			go r.file.Close() // on Windows, Close may wait for the reader
			continue
		}
		_ = r.file.Close() // opened for reading only
	}
	return complete
}
