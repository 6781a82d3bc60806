package cache

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/cassette"
	"github.com/clichain/clichain/internal/localfile"
)

// store has the files of a cache. Other processes may use the same directory.
type store struct {
	dir      string
	maxAge   time.Duration
	maxBytes int64

	mu    sync.Mutex
	total int64 // size of the files when this process has counted them, and of those that it added later
	known bool  // total is known
}

const (
	suffix     = ".json"
	nameLength = 64 + len(suffix)
	// unfinished is the age of a file that a killed process has left.
	unfinished = time.Hour
	// trimmed is the share of maxBytes that remains after the oldest files are removed, so that not every new answer
	// lists the directory.
	trimmed = 0.9
)

// read returns the recording in a file. It returns nil if the file is missing, too old or not valid, or if another user
// may have written it.
func (s *store) read(name string) *cassette.Cassette {
	path := filepath.Join(s.dir, name)
	info, err := os.Lstat(path)
	if err != nil || s.expired(info) {
		return nil
	}
	data, err := localfile.ReadOwn(path, cassette.MaxBytes)
	if err != nil {
		return nil
	}
	c, err := cassette.Decode(data)
	if err != nil || c.Calls[0].Response == nil {
		return nil
	}
	return c
}

// expired reports whether a file is too old. A file from the future is, too: its age is not known.
func (s *store) expired(info fs.FileInfo) bool { return time.Since(info.ModTime()).Abs() >= s.maxAge }

// write writes a file, and then removes old files if all files together are too large.
func (s *store) write(name string, c *cassette.Cassette) error {
	data, err := cassette.Encode(c)
	switch {
	case err != nil:
	case int64(len(data)) > s.maxBytes:
		err = errors.New("it is larger than the cache")
	default:
		err = cassette.Write(filepath.Join(s.dir, name), data, 0o600)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total += int64(len(data)); s.known && s.total <= s.maxBytes {
		return nil
	}
	return s.trim()
}

// trim removes expired files, and the oldest ones if all files together are too large.
func (s *store) trim() error {
	entries, err := localfile.List(s.dir, 0)
	if err != nil {
		return err
	}
	s.total, s.known = 0, true
	var kept []fs.FileInfo
	for _, entry := range entries {
		info, err := entry.Info()
		switch {
		case err != nil: // another process has removed it
		case strings.HasPrefix(info.Name(), cassette.TempPrefix):
			localfile.RemoveOld(filepath.Join(s.dir, info.Name()), time.Now().Add(-unfinished))
		case !isName(info.Name()) || !info.Mode().IsRegular():
		case s.expired(info):
			_ = os.Remove(filepath.Join(s.dir, info.Name()))
		default:
			s.total += info.Size()
			kept = append(kept, info)
		}
	}
	if s.total <= s.maxBytes {
		return nil
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, info := range kept {
		if s.total <= int64(trimmed*float64(s.maxBytes)) {
			break
		}
		_ = os.Remove(filepath.Join(s.dir, info.Name()))
		s.total -= info.Size()
	}
	return nil
}

// isName reports whether a file may be one of a cache. Others in the directory stay.
func isName(name string) bool {
	_, err := hex.DecodeString(strings.TrimSuffix(name, suffix))
	return err == nil && len(name) == nameLength
}
