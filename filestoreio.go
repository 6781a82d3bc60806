package clichain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// maxStoreFile bounds what is read. Nothing near it is ever written.
const maxStoreFile = 1 << 20

// storeVersion is that of the file's form; another one's is not touched.
const storeVersion = 1

type storeFile struct {
	Version int             `json:"version"`
	Rests   map[string]Rest `json:"rests"`
}

var errCorrupt = errors.New("is corrupt")

// read returns what the file has; nothing where there is none.
func (s *FileStore) read() (map[string]Rest, error) {
	data, err := s.readFile()
	if err != nil || len(data) == 0 {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return map[string]Rest{}, err
	}
	var kept storeFile
	switch err := json.Unmarshal(data, &kept); {
	case err != nil:
		return nil, fmt.Errorf("%s %w: %v", s.path, errCorrupt, err)
	case kept.Version > storeVersion:
		return nil, fmt.Errorf("%s has version %d of its form, which is newer than this program", s.path, kept.Version)
	case kept.Rests == nil:
		kept.Rests = map[string]Rest{}
	}
	return kept.Rests, nil
}

func (s *FileStore) readFile() ([]byte, error) {
	file, err := os.OpenFile(s.path, os.O_RDONLY|openNoWait, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", s.path)
	case !mine(info):
		return nil, fmt.Errorf("%s belongs to another user", s.path)
	case info.Size() > maxStoreFile:
		return nil, fmt.Errorf("%s %w: it has %d bytes", s.path, errCorrupt, info.Size())
	}
	return io.ReadAll(io.LimitReader(file, maxStoreFile))
}

// readOrSetAside is read, under the lock. A corrupt file is kept under another
// name for people to look at.
func (s *FileStore) readOrSetAside() (map[string]Rest, error) {
	rests, err := s.read()
	if !errors.Is(err, errCorrupt) {
		return rests, err
	}
	aside := s.path + ".corrupt-" + time.Now().UTC().Format("20060102T150405Z")
	if err := replaceFile(s.path, aside); err != nil {
		return nil, err
	}
	_ = s.tell(fmt.Errorf("%w; set aside as %s", err, aside))
	return map[string]Rest{}, nil
}

// write replaces the file. Only the one with the lock is here, so what is left
// of the new file is that of a process that was killed.
func (s *FileStore) write(rests map[string]Rest) error {
	data, err := json.MarshalIndent(storeFile{storeVersion, rests}, "", "  ")
	if err != nil {
		return err
	}
	name := s.path + ".new"
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(data, '\n'))
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = replaceFile(name, s.path)
	}
	if err != nil {
		_ = os.Remove(name)
	}
	return err
}
