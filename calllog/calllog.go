// Package calllog writes a line of JSON for each call of a chain to files of this user. A line has the backend, the
// model, the result, the tokens, the cost and the time. It has no prompt and no answer unless Config.Content is set.
//
// Each line has the hash of the line before. The file head has the number of lines and the last hash. Verify uses them
// to find a line that was changed, removed or cut off. A program that can write all files of the log can forge the
// whole log.
package calllog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/plaintext"
)

// The defaults and limits of a log.
const (
	DefaultMaxBytes = 64 << 20
	DefaultMaxAge   = 365 * 24 * time.Hour
	MinMaxBytes     = 1 << 20
	MinMaxAge       = time.Hour
)

// Config has the settings of a log. The zero value of a field is its default.
type Config struct {
	// Content adds the prompts, the answers and the messages of failures to the records. Secrets in the environment of
	// this process and texts with the shape of a key are redacted.
	Content bool
	// Project is the directory of requests without a Dir. Empty: their records have no project.
	Project string
	// MaxBytes limits the size of the log. The oldest eighth is removed when it is reached. Zero: DefaultMaxBytes. The
	// smallest value is MinMaxBytes.
	MaxBytes int64
	// MaxAge limits the age of the records. The next append after it removes them. Zero: DefaultMaxAge. The smallest
	// value is MinMaxAge.
	MaxAge time.Duration
	// OnError is called with the first error of writing a record. Later errors are dropped, because a log that cannot be
	// written must not disturb the calls. Nil: ignored.
	OnError func(error)
}

// Log is a log of calls in a directory. Several processes may write to the same directory. It is safe for concurrent
// use. Use [Open].
type Log struct {
	dir     string
	cfg     Config
	secrets *plaintext.Redactor
	hooks   *clichain.Hooks
	now     func() time.Time

	turns   localfile.Turns // for appends
	pending sync.Map        // the calls in progress, by their context
	failed  sync.Once
}

// DefaultDir returns the directory of this user's log: clichain/calls in $XDG_STATE_HOME or ~/.local/state; on Windows
// in %LocalAppData%.
func DefaultDir() (string, error) {
	dir, err := localfile.StateDir()
	if err != nil {
		return "", fmt.Errorf("calllog: %w", err)
	}
	return filepath.Join(dir, "calls"), nil
}

// Open returns the log in a directory, which must be an absolute path. An empty dir means DefaultDir. The first record
// creates the directory, which only this user can enter. A nil cfg means the defaults.
func Open(dir string, cfg *Config) (*Log, error) {
	if dir == "" {
		var err error
		if dir, err = DefaultDir(); err != nil {
			return nil, err
		}
	}
	l := &Log{dir: dir, now: time.Now, turns: localfile.NewTurns(filepath.Join(dir, "lock"))}
	if cfg != nil {
		l.cfg = *cfg
	}
	l.cfg.MaxBytes = cmp.Or(l.cfg.MaxBytes, DefaultMaxBytes)
	l.cfg.MaxAge = cmp.Or(l.cfg.MaxAge, DefaultMaxAge)
	switch {
	case !filepath.IsAbs(dir):
		return nil, fmt.Errorf("calllog: the directory %q is not an absolute path", dir)
	case l.cfg.MaxBytes < MinMaxBytes:
		return nil, fmt.Errorf("calllog: Config.MaxBytes is %d; use at least %d", l.cfg.MaxBytes, MinMaxBytes)
	case l.cfg.MaxAge < MinMaxAge:
		return nil, fmt.Errorf("calllog: Config.MaxAge is %v; use at least %v", l.cfg.MaxAge, MinMaxAge)
	}
	l.secrets = plaintext.NewRedactor(os.Environ())
	l.hooks = l.newHooks()
	return l, nil
}

// Dir returns the directory of the log.
func (l *Log) Dir() string { return l.dir }

// Hooks returns the hooks that write the records, always the same pointer. Set ChainConfig.Hooks to them; to add them
// to other hooks, use [clichain.JoinHooks]. A call waits for its record for at most 2 s, and never fails because of it.
func (l *Log) Hooks() *clichain.Hooks { return l.hooks }

// warn reports the first error.
func (l *Log) warn(err error) {
	l.failed.Do(func() {
		if l.cfg.OnError != nil {
			l.cfg.OnError(err)
		}
	})
}

const patience = 2 * time.Second // for the lock

var errBusy = errors.New("another process has locked the log")

// locked calls do while this process has the lock of the log. It creates the directory if it is missing.
func (l *Log) locked(ctx context.Context, do func(root *os.Root) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errBusy)
	defer cancel()
	var root *os.Root
	unlock, err := l.turns.Lock(ctx, func() (err error) { root, err = localfile.OwnDir(l.dir); return err })
	if root != nil {
		defer root.Close()
	}
	if err != nil {
		return fmt.Errorf("calllog: %w", cmp.Or(context.Cause(ctx), err))
	}
	defer unlock()
	return do(root)
}
