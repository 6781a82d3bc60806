package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

// readSize is enough to read at the speed of memory.
const readSize = 64 << 10

var buffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// reader reads one output of the program until its end. It never stops before, whatever happens to its Writer: a
// program whose output is not read would block in its write.
type reader struct {
	recorder

	file  *os.File
	sink  io.Writer // nil once it has failed
	limit int64
	fail  func(error)
	done  chan struct{}
	ended bool // end of output was seen; valid once done
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

// write hands a chunk to the caller's Writer and turns a panic into an error.
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

// stopAt ends reading at the deadline even if the output is still open.
func (r *reader) stopAt(deadline time.Time) { _ = r.file.SetReadDeadline(deadline) } // pipes have deadlines

// Capture is what was kept of one output stream. It is a plain value.
type Capture struct {
	Head  []byte // the first bytes
	Tail  []byte // the last ones that are not in Head
	Total int64  // number of bytes written by the program
}

// Truncated reports whether something between Head and Tail was dropped.
func (c Capture) Truncated() bool { return c.dropped() > 0 }

// Text returns what was kept, with a note on a line of its own where something was dropped.
func (c Capture) Text() string {
	if !c.Truncated() {
		return string(c.Head) + string(c.Tail)
	}
	return fmt.Sprintf("%s\n[%d bytes dropped]\n%s", c.Head, c.dropped(), c.Tail)
}

func (c Capture) dropped() int64 { return c.Total - int64(len(c.Head)) - int64(len(c.Tail)) }

// recorder makes a Capture. It allocates as needed, at most twice its size, and is safe for concurrent use.
type recorder struct {
	size int // of head and of tail

	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring goes on
	total int64
}

func (r *recorder) add(chunk []byte) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total += int64(len(chunk))
	n := min(len(chunk), r.size-len(r.head))
	r.head = append(r.head, chunk[:n]...)
	r.addTail(chunk[n:])
	return r.total
}

func (r *recorder) addTail(chunk []byte) {
	if len(chunk) >= r.size {
		r.tail, r.next = append(r.tail[:0], chunk[len(chunk)-r.size:]...), 0
		return
	}
	n := min(len(chunk), r.size-len(r.tail))
	r.tail = append(r.tail, chunk[:n]...)
	for chunk = chunk[n:]; len(chunk) > 0; {
		n = copy(r.tail[r.next:], chunk)
		chunk, r.next = chunk[n:], (r.next+n)%r.size
	}
}

func (r *recorder) capture() Capture {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := Capture{Head: append([]byte(nil), r.head...), Total: r.total}
	c.Tail = append(append(c.Tail, r.tail[r.next:]...), r.tail[:r.next]...)
	return c
}
