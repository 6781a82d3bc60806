package proc

import (
	"cmp"
	"io"
	"os"
	"time"
)

// feeder writes standard input. The program sees the end of its input only after all of the input was written,
// so it never takes a truncated input for a complete one.
type feeder struct {
	file  *os.File
	peer  *os.File // the program's end, for counting unread bytes; nil if they are not counted
	input io.ReadCloser
	whole bool // input is Command.Stdin, whose end is known
	done  chan struct{}

	// Valid after done is closed.
	err     error // why input was not written completely
	written int64
}

// open creates the pipe and returns the program's end of it.
func (f *feeder) open() (child *os.File, err error) {
	child, f.file, err = os.Pipe()
	if f.whole && canHold {
		f.peer = child
	}
	return child, err
}

func (f *feeder) feed() {
	defer close(f.done)
	var err error
	if f.written, err = io.Copy(f.file, f.input); err == nil {
		err = f.file.Close()
	}
	f.err = cmp.Or(err, f.input.Close())
}

// hold interrupts a write that waits for the program, or a read that waits for more input. It reports whether
// the program has read all of an input with a known end, and whether the program has certainly read nothing of
// it. If a write cannot be interrupted and has not finished, both are false.
func (f *feeder) hold() (delivered, untouched bool) {
	_ = f.file.SetWriteDeadline(time.Now()) // an error means that feed has closed it
	_ = f.input.Close()                     // no more input is needed
	if canHold {
		<-f.done
	}
	select {
	case <-f.done:
		if !f.whole {
			return true, false
		}
		left := unread(f.peer)
		delivered = f.err == nil && left == 0
		return delivered, !delivered && int64(left) == f.written
	default:
		return false, false
	}
}

// end ends the goroutine and the input of a program that has ended.
func (f *feeder) end() {
	f.hold()
	<-f.done
	f.close()
}

// close closes this process's ends of the pipe.
func (f *feeder) close() {
	for _, end := range []*os.File{f.file, f.peer} {
		if end != nil {
			_ = end.Close() // written data is delivered or lost by now
		}
	}
}
