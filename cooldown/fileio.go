package cooldown

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/clichain/clichain/internal/localfile"
)

// maxStoreFile bounds what is read. Nothing near it is ever written.
const maxStoreFile = 1 << 20

// storeVersion is that of the file's form; another one's is not touched.
const storeVersion = 1

type storeFile struct {
	Version   int              `json:"version"`
	Cooldowns map[string]State `json:"cooldowns"`
}

var errCorrupt = errors.New("is corrupt")

// read returns what the file has; nothing where there is none.
func (s *File) read() (map[string]State, error) {
	data, err := s.readFile()
	if err != nil || len(data) == 0 {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return map[string]State{}, err
	}
	var kept storeFile
	switch err := json.Unmarshal(data, &kept); {
	case err != nil:
		return nil, fmt.Errorf("%s %w: %v", s.path, errCorrupt, err)
	case kept.Version > storeVersion:
		return nil, fmt.Errorf("%s has version %d of its form, which is newer than this program", s.path, kept.Version)
	case kept.Cooldowns == nil:
		kept.Cooldowns = map[string]State{}
	}
	return kept.Cooldowns, nil
}

func (s *File) readFile() ([]byte, error) {
	data, err := localfile.Read(s.path, maxStoreFile)
	switch {
	case errors.Is(err, localfile.ErrTooBig):
		return nil, fmt.Errorf("%s %w: %v", s.path, errCorrupt, err)
	case err == nil && !localfile.Mine(s.path):
		return nil, fmt.Errorf("%s belongs to another user", s.path)
	}
	return data, err
}

// readOrSetAside is read, under the lock. A corrupt file is kept under another
// name for people to look at.
func (s *File) readOrSetAside() (map[string]State, error) {
	states, err := s.read()
	if !errors.Is(err, errCorrupt) {
		return states, err
	}
	aside := s.path + ".corrupt-" + time.Now().UTC().Format("20060102T150405Z")
	if err := localfile.Move(s.path, aside); err != nil {
		return nil, err
	}
	_ = s.tell(fmt.Errorf("%w; set aside as %s", err, aside))
	return map[string]State{}, nil
}

// write replaces the file. Only the one with the lock is here.
func (s *File) write(states map[string]State) error {
	data, err := json.MarshalIndent(storeFile{storeVersion, states}, "", "  ")
	if err != nil {
		return err
	}
	return localfile.Replace(s.path, append(data, '\n'))
}
