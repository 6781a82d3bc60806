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
	"github.com/clichain/clichain/workspace"
	"github.com/nats-io/nats.go"
)

// Config is the configuration of a batch. In, Out, and Backends or Connect are required. Every other zero value works.
// Run reads it and does not change it.
type Config struct {
	// In and Out are file names, or "-" for Stdin and Stdout. Run creates Out if the file is missing. If Out is a
	// regular file, Run skips the lines that have a record there and appends new records.
	In, Out string
	// Format is the format of In. If it is empty, the first line and then the file name extension determine the
	// format.
	Format Format
	Stdin  io.Reader
	Stdout io.Writer
	// Bad names the file for lines that cannot run. Each run overwrites the file. The default is Out with the suffix
	// ".bad.jsonl", which exists only if there are bad lines. If Out is a stream, the default is to call OnBadLine
	// instead.
	Bad string
	// OnBadLine is called for each line that cannot run if no file stores these lines. Its arguments are the line
	// number, starting at 1, and the reason. If it returns an error, the batch ends. If it is nil, bad lines are only
	// counted.
	OnBadLine func(number int, err error) error
	// AdviceText returns the text for the advice in the error of a line that cannot run, or "" to omit the advice. If
	// it is nil, [call.Advice.String] is used, whose texts contain Go names.
	AdviceText func(call.Advice) string
	// Store is the directory that contains the queue of the batch, in one subdirectory for each Out. The default is
	// Out with the suffix ".queue", which Run removes when the batch is complete. If Out is a stream, the default is
	// a temporary directory.
	Store string

	// Defaults contains the values of fields that a line omits. Its messages are system prompts.
	Defaults clichain.Request
	// Permissions limits the permissions that a line can request. A line that requests more is a bad line. The zero
	// value allows only answers.
	Permissions permit.Permissions
	// RetryFailed retries failed lines. A line whose agent may have acted also needs RetrySideEffects.
	RetryFailed, RetrySideEffects bool
	// Ordered writes the records in the order of the input. By default, records are written in the order of the
	// answers.
	Ordered bool
	// Changed retries each line whose request differs from the request that its record in Out answers.
	Changed bool

	// Jobs is the concurrency limit of this process. Zero means 1.
	Jobs int
	// Backends answer the lines, in the order and with the settings of a chain that is configured by Chain. Each
	// [clichain.Provider] in the list answers with warm processes, unless Cold is set.
	Backends []clichain.Backend
	Chain    clichain.ChainConfig
	Cold     bool
	// Workspace makes lines with AccessWrite work in private copies of their directories. Their records have the
	// changes as patches, and the directories do not change. Nil: the agents change the directories themselves.
	Workspace *workspace.Config
	// Wrap returns the backend to use instead of the chain, for example to record spans. If it is nil, the chain is
	// used.
	Wrap func(clichain.Backend) clichain.Backend
	// Worker changes the configuration of this process's worker before the worker starts. If it replaces a func of
	// the configuration, the new func must call the previous func. If Worker is nil, the configuration does not
	// change.
	Worker func(*jetstream.WorkConfig)
	// Trace is the trace context of all jobs. It may be nil.
	Trace map[string]string
	// Connect connects to a NATS server whose workers answer instead of Backends. Run closes the connection. If
	// Connect is nil, Backends answer the jobs of a queue in this process.
	Connect func(context.Context) (*nats.Conn, error)
	// Owner is the owner of the jobs on that server; see [jetstream.Job]. Empty: none.
	Owner string
	// Queue is the configuration of the queue. Nil means the default.
	Queue *jetstream.Config

	// Budget limits the duration of the run. MaxCostUSD limits the known cost of all records in Out, in US dollars.
	// Jobs in flight can finish after either limit is reached. Zero means no limit.
	Budget     time.Duration
	MaxCostUSD float64

	// Progress is called with the counts when the run begins, and then five times per second. The calls do not
	// overlap. It may be nil.
	Progress func(Counts)
	// Notice is called with messages for an operator, once for each kind of message. It must be safe for concurrent
	// use. It may be nil.
	Notice func(message string)
}

// again reports whether the line of a record runs again.
func (c *Config) again(r *Record) bool {
	return c.RetryFailed && r.Error != nil && (c.RetrySideEffects || !r.Error.SideEffects)
}

// remote reports whether the workers of another server's queue answer.
func (c *Config) remote() bool { return c.Connect != nil }

// ahead limits the number of jobs in the queue without a record, so that memory and disk usage do not grow with the
// input.
func (c *Config) ahead() int { return max(1000, 4*c.Jobs) }

// resumes reports whether a later run can resume this run.
func (c *Config) resumes() bool { return c.Out != disk.Stream || c.Store != "" }

// Check returns a [*Mistake] if Run and DryRun would reject the configuration. It opens no file.
func (c *Config) Check() error {
	if c.RetryFailed && !c.resumes() {
		return &Mistake{errors.New("--retry-failed needs the records of an earlier run: add -o FILE or --store")}
	}
	if c.Changed && !c.resumes() {
		return &Mistake{errors.New("--changed needs the records of an earlier run: add -o FILE or --store")}
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
			return &Mistake{fmt.Errorf("%s: is named twice: use different files for input, output and bad lines", pair[0])}
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
