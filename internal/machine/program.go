package machine

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/localfile"
)

// Finder looks for a program on PATH and caches the result, so that choosing a backend costs one stat and never
// runs the program. The zero value works; it is safe for concurrent use.
type Finder struct {
	mu      sync.Mutex
	path    string          // PATH at the time of the search
	when    time.Time       // of the search
	found   string          // absolute path, or "" if no program was found
	stamp   localfile.Stamp // of found
	missing error           // why no program was found
}

// finderTTL bounds how long a newly installed program stays unseen.
const finderTTL = time.Second

// Find returns the absolute path of the first of the names that is on PATH. If none is, it returns the first of
// the link names on PATH that is a link to such a program. It returns a cached path only if the file has not
// changed. The error wraps [exec.ErrNotFound].
func (f *Finder) Find(names []string, linkNames ...string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fresh() {
		return f.found, f.missing
	}
	f.path, f.when = os.Getenv("PATH"), time.Now()
	f.found, f.stamp, f.missing = search(names, linkNames)
	return f.found, f.missing
}

func (f *Finder) fresh() bool {
	if f.when.IsZero() || time.Since(f.when) > finderTTL || f.path != os.Getenv("PATH") {
		return false
	}
	if f.found == "" {
		return true
	}
	now, err := localfile.StampOf(f.found)
	return err == nil && now == f.stamp
}

// search looks the names up in order. It refuses a program found through a relative entry of PATH, because any
// process with write access to the working directory could have put it there.
func search(names, linkNames []string) (string, localfile.Stamp, error) {
	var trouble []string
	for i, name := range slices.Concat(names, linkNames) {
		path, err := onPath(name)
		if err == nil && !filepath.IsAbs(path) {
			err = exec.ErrDot
		}
		if err == nil && i >= len(names) && !leadsTo(path, names) {
			err = exec.ErrNotFound
		}
		if err == nil {
			stamp, statErr := localfile.StampOf(path)
			if statErr == nil {
				return path, stamp, nil
			}
			err = statErr
		}
		if !errors.Is(err, exec.ErrNotFound) {
			trouble = append(trouble, err.Error())
		}
	}
	why := cmp.Or(strings.Join(trouble, "; "), fmt.Sprintf("no program %q on PATH", names[0]))
	return "", localfile.Stamp{}, &missingError{why}
}

// leadsTo reports whether the path of a file, with links resolved, has an element that is one of the names.
func leadsTo(path string, names []string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(strings.Split(real, string(filepath.Separator)), func(element string) bool {
		return slices.Contains(names, element)
	})
}

// missingError is the error for a program that was not found. It wraps [exec.ErrNotFound].
type missingError struct{ message string }

func (e *missingError) Error() string { return e.message }

func (e *missingError) Unwrap() error { return exec.ErrNotFound }
