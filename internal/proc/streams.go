package proc

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// streams are the three pipes to a program and the goroutines that serve them. They replace those of os/exec, whose
// Wait can block on a reader for ever.
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
	input := c.Input
	if input == nil && c.Stdin != nil {
		input = io.NopCloser(bytes.NewReader(c.Stdin))
	}
	if input == nil {
		s.child[0], err = os.Open(os.DevNull)
	} else {
		s.stdin = &feeder{input: input, done: make(chan struct{})}
		s.child[0], s.stdin.file, err = os.Pipe()
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

// closeChildEnds closes this process's copies of the program's ends, so that only the program keeps its output open.
func (s *streams) closeChildEnds() {
	for _, f := range s.child {
		if f != nil {
			_ = f.Close() // nothing was written through it
		}
	}
}

// close closes our ends of pipes that no goroutine serves.
func (s *streams) close() {
	if s.stdin != nil && s.stdin.file != nil {
		_ = s.stdin.file.Close() // nothing was written through it
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

func (s *streams) closeStdin() {
	if s.stdin != nil {
		s.stdin.stop()
	}
}

// drain ends all goroutines and reports whether the output had ended by then and all of it was delivered.
func (s *streams) drain(limit time.Duration) (complete bool) {
	s.closeStdin()
	if s.stdin != nil {
		<-s.stdin.done
	}
	deadline := time.Now().Add(limit)
	s.stdout.stopAt(deadline)
	s.stderr.stopAt(deadline)
	timer := time.NewTimer(2 * limit) // after that, a Writer that does not return is abandoned
	defer timer.Stop()
	complete = true
	for _, r := range []*reader{s.stdout, s.stderr} {
		select {
		case <-r.done:
			complete = complete && r.ended
		case <-timer.C:
			complete = false
			timer.Reset(0)    // no further wait for the other
			go r.file.Close() // on Windows it may have to wait for the reader
			continue
		}
		_ = r.file.Close() // it was only read from
	}
	return complete
}

// stdinErr is what kept the input from being delivered, once drained.
func (s *streams) stdinErr() error {
	if s.stdin == nil {
		return nil
	}
	return s.stdin.err
}

// feeder writes standard input. Its goroutine owns the file.
type feeder struct {
	file  *os.File
	input io.ReadCloser
	done  chan struct{}
	err   error // valid once done
}

func (f *feeder) feed() {
	defer close(f.done)
	_, err := io.Copy(f.file, f.input)
	f.err = errors.Join(err, f.file.Close(), f.input.Close())
}

// stop ends a write that waits for the program, or a read that waits for more input.
func (f *feeder) stop() {
	_ = f.file.SetWriteDeadline(time.Now()) // fails if feed has closed it: just as well
	_ = f.input.Close()                     // nothing more is wanted of it
}
