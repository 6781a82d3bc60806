package proc

import (
	"cmp"
	"io"
	"os"
	"time"
)

// feeder writes standard input. The program sees the end of its input only when all of it was written: what it gets of
// an input that is cut short is never the whole for it.
type feeder struct {
	file  *os.File
	peer  *os.File // the program's end, where what it has not read can be counted; nil where nothing is to be counted
	input io.ReadCloser
	whole bool // input is Command.Stdin, of which the end is known
	done  chan struct{}

	// Valid once done.
	err     error // what kept input from being written
	written int64
}

// open makes the pipe, and returns the program's end of it.
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

// hold ends a write that waits for the program, or a read that waits for more input. It reports whether the program has
// read all of an input of which the end is known, and whether it has certainly read nothing of it. Where a write cannot
// be ended, and has not ended, neither is so.
func (f *feeder) hold() (delivered, untouched bool) {
	_ = f.file.SetWriteDeadline(time.Now()) // fails if feed has closed it: just as well
	_ = f.input.Close()                     // nothing more is wanted of it
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

// close closes our ends of the pipe.
func (f *feeder) close() {
	for _, end := range []*os.File{f.file, f.peer} {
		if end != nil {
			_ = end.Close() // what was written to it is delivered or lost
		}
	}
}
