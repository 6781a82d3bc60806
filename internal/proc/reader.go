package proc

import (
	"errors"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

// readSize is large enough to read at the speed of memory.
const readSize = 64 << 10

var buffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// reader reads one output of the program until its end. It never stops earlier, even if its Writer fails,
// because a program whose output is not read blocks in its write.
type reader struct {
	recorder

	file  *os.File
	sink  io.Writer // nil after it has failed
	limit int64
	fail  func(error)
	done  chan struct{}
	ended bool // the end of the output was seen; valid after done is closed
}

func newReader(sink io.Writer, size int, limit int64, fail func(error)) *reader {
	return &reader{recorder: recorder{size: size}, sink: sink, limit: limit, fail: fail, done: make(chan struct{})}
}

func (r *reader) read() {
	defer close(r.done)
	buffer := buffers.Get().(*[readSize]byte)
	defer buffers.Put(buffer)
	for {
		n, err := r.file.Read(buffer[:])
		if n > 0 {
			r.take(buffer[:n])
		}
		if err != nil {
			r.ended = errors.Is(err, io.EOF)
			return
		}
	}
}

func (r *reader) take(chunk []byte) {
	total := r.add(chunk)
	if r.limit > 0 && total > r.limit {
		r.sink = nil
		r.fail(ErrOutputLimit)
	}
	if r.sink == nil {
		return
	}
	if err := write(r.sink, chunk); err != nil {
		r.sink = nil
		r.fail(err)
	}
}

// write passes a chunk to the caller's Writer and converts a panic into an error.
func write(w io.Writer, chunk []byte) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	n, err := w.Write(chunk)
	if err == nil && n < len(chunk) {
		return io.ErrShortWrite
	}
	return err
}

// stopAt stops reading at the deadline, even if the output is still open.
func (r *reader) stopAt(deadline time.Time) { _ = r.file.SetReadDeadline(deadline) } // pipes have deadlines
