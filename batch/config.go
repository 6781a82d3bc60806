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
	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
	"github.com/nats-io/nats.go"
)

// Config is the configuration of a batch. In, Out, and Backends or Connect are required. Every other zero value works.
// Run reads it and does not change it.
type Config struct {
	// In and Out name files, or "-" for Stdin and Stdout. Out is created if it is missing. If it is a regular file, the
	// lines that have a record there are done, and records are appended.
	In, Out string
	// Format is the format of In. Empty: the first line tells it, and then the extension of the name.
	Format Format
	Stdin  io.Reader
	Stdout io.Writer
	// Bad names the file for lines that cannot run. Each run writes it again. Empty: Out with the suffix ".bad.jsonl",
	// which exists only if there are bad lines; where Out is a stream, OnBadLine is called instead.
	Bad string
	// OnBadLine is called with the number, from 1, of each line that cannot run, and the reason, if no file takes such
	// lines. An error ends the batch. Nil: bad lines are counted only.
	OnBadLine func(number int, err error) error
	// AdviceText returns the text for a piece of advice in the error of a line that cannot run, or "" to leave it out.
	// Nil: [call.Advice.String], which has Go names.
	AdviceText func(call.Advice) string
	// Store is the directory in which the batch keeps its queue, in a subdirectory for each Out. Empty: Out with the
	// suffix ".queue", which is removed at the end, or a temporary directory where Out is a stream.
	Store string

	// Defaults has the values of fields that a line does not have. Its messages are system prompts.
	Defaults clichain.Request
	// Permissions is the most that a line may ask for. A line that asks for more is a bad line. The zero value allows
	// nothing but an answer.
	Permissions permit.Permissions
	// RetryFailed runs the lines again that failed. Where an agent may have acted, RetrySideEffects is needed too.
	RetryFailed, RetrySideEffects bool
	// Ordered writes the records in the order of the input, and not as the answers come.
	Ordered bool
	// Changed runs the lines again that ask something else under their id than the record in Out answers.
	Changed bool

	// Jobs is the concurrency limit of this process. Zero: 1.
	Jobs int
	// Backends answer, in the order and with the settings of a chain with Chain. Each [clichain.Provider] among them
	// answers with warm processes, unless Cold is set.
	Backends []clichain.Backend
	Chain    clichain.ChainConfig
	Cold     bool
	// Wrap returns the backend that is asked instead of the chain, such as one that records spans. Nil: the chain.
	Wrap func(clichain.Backend) clichain.Backend
	// Worker changes the configuration of the worker of this process before it starts. A func that replaces one of the
	// configuration must call it. Nil: no change.
	Worker func(*jetstream.WorkConfig)
	// Trace is the trace context of all jobs. Nil: none.
	Trace map[string]string
	// Connect connects to a server whose workers answer instead of Backends. Run closes the connection. Nil: Backends
	// answer, out of a queue in this process.
	Connect func(context.Context) (*nats.Conn, error)
	// Queue is the configuration of the queue. Nil: the default.
	Queue *jetstream.Config

	// Budget limits the time of the run. MaxCostUSD limits the known cost of all records in Out, in US dollars: jobs in
	// flight finish when it is reached. Zero: no limit.
	Budget     time.Duration
	MaxCostUSD float64

	// Progress is called with the counts when the run begins, and then five times a second, one call at a time. Nil: no
	// calls.
	Progress func(Counts)
	// Notice is called with messages for an operator, one of each kind. It must be safe for concurrent use. Nil: no
	// calls.
	Notice func(message string)
}

// again reports whether the line of a record runs again.
func (c *Config) again(r *Record) bool {
	return c.RetryFailed && r.Error != nil && (c.RetrySideEffects || !r.Error.SideEffects)
}

// remote reports whether the workers of a queue elsewhere answer.
func (c *Config) remote() bool { return c.Connect != nil }

// ahead limits how many jobs are in the queue without a record, so that neither memory nor disk grow with the input.
func (c *Config) ahead() int { return max(1000, 4*c.Jobs) }

// resumes reports whether another run can resume this one.
func (c *Config) resumes() bool { return c.Out != disk.Stream || c.Store != "" }

// Check returns a [*Mistake] for a configuration that Run and DryRun refuse. It opens no file.
func (c *Config) Check() error {
	if c.RetryFailed && !c.resumes() {
		return &Mistake{errors.New("--retry-failed: there is nothing to run again without -o FILE, or --store")}
	}
	if c.Changed && !c.resumes() {
		return &Mistake{errors.New("--changed: there is nothing to compare with, without -o FILE, or --store")}
	}
	for flag, name := range map[string]string{"-i": c.In, "-o": c.Out} {
		if info, err := os.Stat(name); err == nil && info.IsDir() && name != disk.Stream {
			return &Mistake{fmt.Errorf("%s %s: is a directory: name a file", flag, name)}
		}
	}
	if _, err := os.Stat(c.In); err != nil && c.In != disk.Stream {
		return &Mistake{fmt.Errorf("-i: %w", err)}
	}
	for _, pair := range [][2]string{{c.In, c.Out}, {c.In, c.Bad}, {c.Out, c.Bad}} {
		if sameFile(pair[0], pair[1]) {
			return &Mistake{fmt.Errorf("%s: is named twice: input, output and bad lines need a file each", pair[0])}
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	if a == "" || b == "" || a == disk.Stream || b == disk.Stream {
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
