package jetstream

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// LockedError is the error of Embed for a store directory that another process uses. It is a plain value.
type LockedError struct {
	Folder string
	// PID and Program identify the process that uses it. Zero: not known.
	PID     int
	Program string
}

// Error names the process and says what to do.
func (e *LockedError) Error() string {
	user := "another process"
	if e.PID != 0 {
		user = fmt.Sprintf("process %d (%s)", e.PID, e.Program)
	}
	return fmt.Sprintf("jetstream: the store directory %s is in use by %s: wait until it has ended, "+
		"or use another directory",
		e.Folder, user)
}

// holder is the content of the lock file: the process that holds the lock.
type holder struct {
	PID     int    `json:"pid"`
	Program string `json:"program"`
}

// storeLock is held while a server uses the directory. The system releases it when the process ends, even after a
// crash.
type storeLock struct{ file *flock.Flock }

const lockFile = "lock"

func lockStore(dir string) (*storeLock, error) {
	path := filepath.Join(dir, lockFile)
	lock := flock.New(path, flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("jetstream: cannot lock the store directory %s: %w", dir, err)
	}
	if !ok {
		var other holder
		if data, err := os.ReadFile(path + ".json"); err == nil {
			_ = json.Unmarshal(data, &other) // an incomplete file names no process
		}
		return nil, &LockedError{dir, other.PID, other.Program}
	}
	self, err := json.Marshal(holder{os.Getpid(), filepath.Base(os.Args[0])})
	if err == nil {
		err = os.WriteFile(path+".json", self, 0o600)
	}
	if err != nil {
		_ = lock.Unlock()
		return nil, fmt.Errorf("jetstream: cannot lock the store directory %s: %w", dir, err)
	}
	return &storeLock{lock}, nil
}

func (l *storeLock) release() error { return l.file.Unlock() }
