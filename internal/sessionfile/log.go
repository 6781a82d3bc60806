package sessionfile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/localfile"
)

// maxLog is the size in bytes at which a log is full: about two thousand records. The 256 logs hold the latest half a
// million records in at most a quarter of a gigabyte.
const maxLog = 512 << 10

// log is a file of lines. One file for each record would cost several times as much, and a batch would leave as many
// files as it has lines.
type log struct{ path string }

// before is the path of the previous, full log.
func (l log) before() string { return l.path + ".old" }

// latest yields the lines, the last first.
func (l log) latest() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, path := range []string{l.path, l.before()} {
			text, err := localfile.ReadOwn(path, 2*maxLog) // concurrent writers may exceed maxLog
			for i := 0; err == nil && i >= 0; text = text[:max(i, 0)] {
				i = bytes.LastIndexByte(text, '\n')
				if !yield(text[i+1:]) {
					return
				}
			}
		}
	}
}

var removeOld sync.Once

// add adds a line. It writes a line break first, so that a partial line of a killed process does not spoil the next
// line.
func (l log) add(text []byte) error {
	removeOld.Do(func() {
		for _, path := range []string{l.path, l.before()} {
			localfile.RemoveOld(path, time.Now().Add(-keepFor))
		}
	})
	text = append([]byte("\n"), text...)
	if localfile.Append(l.path, text, maxLog) == nil {
		return nil
	}
	return l.begin(text)
}

// begin starts a new file if the current one is full, or is not this user's own.
func (l log) begin(text []byte) error {
	const patience, poll = time.Second, 5 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	unlock, err := localfile.Lock(ctx, filepath.Join(filepath.Dir(l.path), "lock"), poll)
	if err != nil {
		return err
	}
	defer unlock()
	err = localfile.Append(l.path, text, maxLog) // another process may have started it meanwhile
	refused := localfile.CheckOwn(l.path, maxLog)
	if err == nil || refused == nil || errors.Is(refused, fs.ErrNotExist) {
		return err
	}
	if err := localfile.Move(l.path, l.before()); err != nil {
		return err
	}
	return localfile.Append(l.path, text, maxLog)
}
