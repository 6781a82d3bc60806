package proc

import (
	"cmp"
	"io"
	"time"
)

// Command says what to run and how long to be patient with it.
type Command struct {
	// Path is the program, absolute. It is started as it is: links are not resolved.
	Path string
	// Args are all arguments, with the program's name as the first. Empty means Path alone.
	Args []string
	// Env is the whole environment; nil is empty, nothing is inherited. Run adds its cookie, and PWD if Dir is set.
	Env []string
	// Dir is the working directory, empty for that of this process.
	Dir string

	// Stdin is written to standard input, which is then closed; nil means /dev/null.
	Stdin []byte
	// Stdout and Stderr get the output in chunks, as it is read, each from one goroutine of its own; they must not keep
	// the chunk. Once one returns an error or panics the run is stopped with that as its cause, and no more is
	// delivered to it. Nil means that output is only captured.
	Stdout, Stderr io.Writer

	// Grace is the time to end after each of the two polite signals. 0 is a second, less than 0 none: kill at once.
	Grace time.Duration
	// Drain is the time for output to end after all processes are gone, 0 for 2 s.
	Drain time.Duration
	// Teardown is the time for all processes to go once they are killed, 0 for 5 s.
	Teardown time.Duration
	// Kill, once closed, ends the run without grace, whether or not it is being stopped already.
	Kill <-chan struct{}

	// Shim puts a process of our own between us and the program, which adopts all that loses its parent and ends when
	// nothing is left: nothing gets away, whatever it does, and nothing outlives this process. It costs a few
	// milliseconds and megabytes, and needs ShimMain. Linux only; elsewhere it has no effect.
	Shim bool
	// Cgroup is a directory of a version 2 control group that was delegated to us. The run gets a group of its own below
	// it, which nothing leaves and which is killed as a whole. Empty for none. Linux only; elsewhere it has no effect.
	Cgroup string

	// Capture is how many bytes are kept of the head, and as many of the tail, of each output; 0 for 64 KiB.
	Capture int
	// Limit is the number of bytes on standard output after which the run is stopped with ErrOutputLimit, 0 for none.
	Limit int64
}

func (c Command) withDefaults() Command {
	c.Grace = cmp.Or(c.Grace, time.Second)
	c.Drain = cmp.Or(c.Drain, 2*time.Second)
	c.Teardown = cmp.Or(c.Teardown, 5*time.Second)
	c.Capture = cmp.Or(c.Capture, 64<<10)
	if len(c.Args) == 0 {
		c.Args = []string{c.Path}
	}
	return c
}
