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

// Config says what a batch reads and writes, and who answers. In and Out are needed, and Providers or Connect.
type Config struct {
	// In and Out are files, or "-" for Stdin and Stdout.
	In, Out string
	// Format is that of In. Empty: the first line tells, and then the ending of the name.
	Format Format
	Stdin  io.Reader
	Stdout io.Writer
	// Bad is the file for lines that cannot be run. Empty: Out and ".bad.jsonl"; for a stream Notes.
	Bad   string
	Notes io.Writer
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

	// Jobs is how many run at once in this process. Providers answer them, in the order of a chain with the settings of
	// Chain, out of processes that are kept warm unless Cold is set.
	Jobs      int
	Providers []*clichain.Provider
	Chain     clichain.ChainConfig
	Cold      bool
	// Watched makes of the chain the backend that is asked. Nil: the chain itself.
	Watched func(clichain.Backend) clichain.Backend
	// Follow adds to what the worker of this process tells of its jobs. Nil: nothing.
	Follow func(*jetstream.WorkConfig)
	// Trace is the trace context of all jobs. Nil: none.
	Trace map[string]string
	// Connect makes the connection to a server whose workers answer instead. Nil: a queue in this process.
	Connect func(context.Context) (*nats.Conn, error)
	// Queue names the queue. Nil: the default.
	Queue *jetstream.Config

	// Budget bounds the time, and MaxCostUSD what the records of the output have cost. Zero: no bound.
	Budget     time.Duration
	MaxCostUSD float64
	Display    Display
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
	b := &badLines{name: c.Bad, notes: c.Notes}
	if c.Bad != "" {
		return b, b.open()
	}
	if info, err := os.Stat(c.Out); c.Out != stream && (err != nil || info.Mode().IsRegular()) {
		b.name, b.own = c.Out+".bad.jsonl", true
		return b, b.open()
	}
	return b, nil
}
