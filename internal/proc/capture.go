package proc

import (
	"fmt"
	"sync"
)

// Capture contains the captured parts of one output stream.
type Capture struct {
	Head  []byte // the first bytes
	Tail  []byte // the last bytes that are not in Head
	Total int64  // number of bytes that the program wrote
}

// Truncated reports whether bytes between Head and Tail were dropped.
func (c Capture) Truncated() bool { return c.dropped() > 0 }

// Text returns the captured bytes, with a note on a separate line in place of dropped bytes.
func (c Capture) Text() string {
	if !c.Truncated() {
		return string(c.Head) + string(c.Tail)
	}
	return fmt.Sprintf("%s\n[%d bytes dropped]\n%s", c.Head, c.dropped(), c.Tail)
}

func (c Capture) dropped() int64 { return c.Total - int64(len(c.Head)) - int64(len(c.Tail)) }

// recorder creates a Capture. It allocates memory as needed, at most twice its size, and is safe for concurrent
// use.
type recorder struct {
	size int // of the head, and of the tail

	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring buffer once it is full
	next  int    // the next position in the ring buffer
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
