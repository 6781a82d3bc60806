package jetstream

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// LockedError says that another process uses a store folder. A plain value.
type LockedError struct {
	Folder string
	// PID and Program are of the process that uses it. Zero: it could not be told.
	PID     int
	Program string
}

// Error names the process and says what to do.
func (e *LockedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d (%s)", e.PID, e.Program)
	}
	return fmt.Sprintf("jetstream: the store folder %s is in use by %s: wait for its end, or use another folder",
		e.Folder, who)
}

// holder is what the lock file says of the process that has it.
type holder struct {
	PID     int    `json:"pid"`
	Program string `json:"program"`
}

// folderLock is held as long as a server uses the folder. The system gives it back when the process ends, however it
// ends.
type folderLock struct{ file *flock.Flock }

const lockFile = "lock"

func lockFolder(folder string) (*folderLock, error) {
	path := filepath.Join(folder, lockFile)
	lock := flock.New(path, flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("jetstream: cannot lock the store folder %s: %w", folder, err)
	}
	if !ok {
		var other holder
		if data, err := os.ReadFile(path + ".json"); err == nil {
			_ = json.Unmarshal(data, &other) // a half written file names nobody
		}
		return nil, &LockedError{folder, other.PID, other.Program}
	}
	self, err := json.Marshal(holder{os.Getpid(), filepath.Base(os.Args[0])})
	if err == nil {
		err = os.WriteFile(path+".json", self, 0o600)
	}
	if err != nil {
		_ = lock.Unlock()
		return nil, fmt.Errorf("jetstream: cannot lock the store folder %s: %w", folder, err)
	}
	return &folderLock{lock}, nil
}

func (l *folderLock) release() error { return l.file.Unlock() }
