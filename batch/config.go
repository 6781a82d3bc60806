package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
	"github.com/nats-io/nats.go"
)

// Config says what a batch reads and writes, and who answers. In and Out are needed, and Backends or Connect.
type Config struct {
	// In and Out are files, or "-" for Stdin and Stdout.
	In, Out string
	// Format is that of In. Empty: the first line tells, and then the ending of the name.
	Format Format
	Stdin  io.Reader
	Stdout io.Writer
	// Bad is the file for lines that cannot be run. Empty: Out and ".bad.jsonl"; for a stream OnBadLine.
	Bad string
	// OnBadLine is called with the number, from 1, of each line that cannot be run, and why, where no file takes such
	// lines. An error ends the batch. Nil: they are counted alone.
	OnBadLine func(number int, err error) error
	// Store is the folder for what is on its way. Empty: Out and ".queue", which goes at the end; for a stream a
	// temporary one.
	Store string

	// Defaults are for lines that do not say it themselves. Its messages are system prompts.
	Defaults clichain.Request
	// Permissions is the most that a line may ask for. A line that asks for more is bad.
	Permissions permit.Permissions
	// RetryFailed runs the lines again that failed; where the agent may have acted only with RetrySideEffects.
	RetryFailed, RetrySideEffects bool
	// Ordered writes the records in the order of the input.
	Ordered bool
	// Changed asks the lines again whose records were asked for something else.
	Changed bool

	// Jobs is how many run at once in this process. Backends answer them, in the order of a chain with the settings of
	// Chain. Each [clichain.Provider] among them answers out of processes that are kept warm, unless Cold is set.
	Jobs     int
	Backends []clichain.Backend
	Chain    clichain.ChainConfig
	Cold     bool
	// Wrap makes of the chain the backend that is asked, such as one that makes spans. Nil: the chain itself.
	Wrap func(clichain.Backend) clichain.Backend
	// Worker changes how the worker of this process is set before it starts, such as by funcs of its own for the events
	// of jobs; it calls those that are set. Nil: nothing changes.
	Worker func(*jetstream.WorkConfig)
	// Trace is the trace context of all jobs. Nil: none.
	Trace map[string]string
	// Connect makes the connection to a server whose workers answer instead. Nil: a queue in this process.
	Connect func(context.Context) (*nats.Conn, error)
	// Queue names the queue. Nil: the default.
	Queue *jetstream.Config

	// Budget bounds the time, and MaxCostUSD what the records of the output have cost. Zero: no bound.
	Budget     time.Duration
	MaxCostUSD float64

	// Progress is called with the counts when the run begins, and then several times a second, one call at a time. Nil:
	// nothing is called.
	Progress func(Counts)
	// Notice is called with messages for an operator, one of each kind, possibly by several goroutines at once. Nil:
	// nothing is called.
	Notice func(message string)
	// ReadChat reads the body of a line of OpenAI's batch API; ignored are the fields without effect. Nil: a line of
	// that format is a bad one.
	ReadChat func(body []byte) (req clichain.Request, ignored []string, err error)
}

// again reports whether a record that is there is to be run again.
func (c *Config) again(r *Record) bool {
	return c.RetryFailed && r.Error != nil && (c.RetrySideEffects || !r.Error.SideEffects)
}

// remote reports whether workers elsewhere run the jobs.
func (c *Config) remote() bool { return c.Connect != nil }

// ahead bounds how many jobs are in the queue without a record, so that neither memory nor disk grow with the input.
func (c *Config) ahead() int { return max(1000, 4*c.Jobs) }

// resumes reports whether another run could go on from this one.
func (c *Config) resumes() bool { return c.Out != stream || c.Store != "" }

// Check finds what is wrong before anything is opened: a [*Mistake]. Run and DryRun call it, too.
func (c *Config) Check() error {
	if c.RetryFailed && !c.resumes() {
		return &Mistake{errors.New("--retry-failed: there is nothing to run again without -o FILE, or --store")}
	}
	if c.Changed && !c.resumes() {
		return &Mistake{errors.New("--changed: there is nothing to compare with, without -o FILE, or --store")}
	}
	for flag, name := range map[string]string{"-i": c.In, "-o": c.Out} {
		if info, err := os.Stat(name); err == nil && info.IsDir() && name != stream {
			return &Mistake{fmt.Errorf("%s %s: is a directory: name a file", flag, name)}
		}
	}
	for _, pair := range [][2]string{{c.In, c.Out}, {c.In, c.Bad}, {c.Out, c.Bad}} {
		if sameFile(pair[0], pair[1]) {
			return &Mistake{fmt.Errorf("%s: is named twice: input, output and bad lines need a file each", pair[0])}
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	if a == "" || b == "" || a == stream || b == stream {
		return false
	}
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	if err != nil || !one.Mode().IsRegular() {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// badLines is where bad lines go.
func (c *Config) badLines() (*badLines, error) {
	b := &badLines{name: c.Bad, report: c.OnBadLine}
	if c.Bad != "" {
		return b, b.open()
	}
	if info, err := os.Stat(c.Out); c.Out != stream && (err != nil || info.Mode().IsRegular()) {
		b.name, b.own = c.Out+".bad.jsonl", true
		return b, b.open()
	}
	return b, nil
}
