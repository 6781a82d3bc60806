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

// maxLog is the size of a log, in bytes, from which on another one is begun: some two thousand records. So 256 logs
// have room for the latest half a million, and take a quarter of a gigabyte at most.
const maxLog = 512 << 10

// log is a file to which lines are added. A file for each record would cost several times as much to make, and leave a
// batch's user with as many files as it had lines.
type log struct{ path string }

// before is where the log goes when it is full.
func (l log) before() string { return l.path + ".old" }

// latest yields the lines, the last first.
func (l log) latest() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, path := range []string{l.path, l.before()} {
			text, err := localfile.ReadOwn(path, 2*maxLog) // those who write at once may pass its size together
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

// add adds a line. It begins with the line's end: what a killed process has left of one does not spoil the next.
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

// begin begins another file, where the one that is there is full, or is not this user's own.
func (l log) begin(text []byte) error {
	const patience, poll = time.Second, 5 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	unlock, err := localfile.Lock(ctx, filepath.Join(filepath.Dir(l.path), "lock"), poll)
	if err != nil {
		return err
	}
	defer unlock()
	err = localfile.Append(l.path, text, maxLog) // another one may have begun it meanwhile
	refused := localfile.CheckOwn(l.path, maxLog)
	if err == nil || refused == nil || errors.Is(refused, fs.ErrNotExist) {
		return err
	}
	if err := localfile.Move(l.path, l.before()); err != nil {
		return err
	}
	return localfile.Append(l.path, text, maxLog)
}
