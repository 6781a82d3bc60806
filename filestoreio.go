package clichain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// maxStoreFile bounds what is read. Nothing near it is ever written.
const maxStoreFile = 1 << 20

// storeVersion is that of the file's form; another one's is not touched.
const storeVersion = 1

type storeFile struct {
	Version   int             `json:"version"`
	Cooldowns map[string]Rest `json:"cooldowns"`
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
	case kept.Cooldowns == nil:
		kept.Cooldowns = map[string]Rest{}
	}
	return kept.Cooldowns, nil
}

func (s *FileStore) readFile() ([]byte, error) {
	data, err := readRegular(s.path, maxStoreFile)
	switch {
	case errors.Is(err, errTooBig):
		return nil, fmt.Errorf("%s %w: %v", s.path, errCorrupt, err)
	case err == nil && !isMine(s.path):
		return nil, fmt.Errorf("%s belongs to another user", s.path)
	}
	return data, err
}

// readOrSetAside is read, under the lock. A corrupt file is kept under another
// name for people to look at.
func (s *FileStore) readOrSetAside() (map[string]Rest, error) {
	states, err := s.read()
	if !errors.Is(err, errCorrupt) {
		return states, err
	}
	aside := s.path + ".corrupt-" + time.Now().UTC().Format("20060102T150405Z")
	if err := moveFile(s.path, aside); err != nil {
		return nil, err
	}
	_ = s.tell(fmt.Errorf("%w; set aside as %s", err, aside))
	return map[string]Rest{}, nil
}

// write replaces the file. Only the one with the lock is here.
func (s *FileStore) write(states map[string]Rest) error {
	data, err := json.MarshalIndent(storeFile{storeVersion, states}, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(s.path, append(data, '\n'))
}
