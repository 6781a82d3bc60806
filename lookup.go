package clichain

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// finder looks for a spec's program on PATH and remembers the answer, so that
// choosing a backend costs one stat, and never a run of the program. The zero
// value works; it is safe for concurrent use.
type finder struct {
	mu     sync.Mutex
	path   string      // PATH at the time of the search
	when   time.Time   // of the search
	found  string      // absolute path, "" when there is none
	stamp  fs.FileInfo // of found
	reason *BackendError
}

// finderTTL bounds how long a program installed later, or earlier on PATH,
// stays unseen.
const finderTTL = time.Second

// find returns the absolute path of the program. A remembered one must still
// be the same file.
func (f *finder) find(names []string) (string, *BackendError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fresh() {
		return f.found, f.reason
	}
	f.path, f.when = os.Getenv("PATH"), time.Now()
	f.found, f.stamp, f.reason = search(names)
	return f.found, f.reason
}

func (f *finder) fresh() bool {
	if f.when.IsZero() || time.Since(f.when) > finderTTL || f.path != os.Getenv("PATH") {
		return false
	}
	if f.found == "" {
		return true
	}
	now, err := os.Stat(f.found)
	return err == nil && os.SameFile(now, f.stamp) && now.ModTime().Equal(f.stamp.ModTime())
}

// search looks the names up in order. A program found through a relative PATH
// entry is never run: whoever owns the working directory could plant it.
func search(names []string) (string, fs.FileInfo, *BackendError) {
	var trouble []string
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err == nil && !filepath.IsAbs(path) {
			err = exec.ErrDot
		}
		if err == nil {
			info, statErr := os.Stat(path)
			if statErr == nil {
				return path, info, nil
			}
			err = statErr
		}
		if !errors.Is(err, exec.ErrNotFound) {
			trouble = append(trouble, err.Error())
		}
	}
	message := fmt.Sprintf("no program %q on PATH", names[0])
	if len(trouble) > 0 {
		message = strings.Join(trouble, "; ")
	}
	return "", nil, &BackendError{Reason: ReasonNotInstalled, Message: message, ExitCode: -1, Err: exec.ErrNotFound}
}
