package jetstream

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain/jetstream/internal/privatedir"
	"github.com/clichain/clichain/jetstream/internal/store"
)

// maxSpooled bounds the results in the spool of a queue. One worker keeps at most as many as it has slots.
const maxSpooled = 1000

// spool is a directory for results that the server does not accept. Empty: there is none.
type spool string

// spooledResult is a result in a file.
type spooledResult struct {
	Result *Result `json:"result"`
	// Sequence is the sequence of the job's message. Zero: the message cannot be read.
	Sequence uint64 `json:"sequence"`
	// MayAct: a mark in the queue records that a worker began the job.
	MayAct bool `json:"may_act,omitempty"`
}

// spoolOf returns the spool of this queue. A queue that was removed and created again has another spool.
func (q *Queue) spoolOf(base string) (spool, error) {
	if base == "" {
		state, err := privatedir.StateHome()
		if err != nil {
			return "", err
		}
		base = filepath.Join(state, "clichain", "results")
	}
	made := q.store.Results.CachedInfo().Created.UTC().Format(time.RFC3339Nano)
	sum := sha256.Sum256([]byte(q.store.Stream("results") + " " + made))
	return spool(filepath.Join(base, hex.EncodeToString(sum[:16]))), nil
}

// create creates the directory of a queue, and that of all queues, for this user alone.
func (s spool) create() error {
	for _, dir := range []string{filepath.Dir(string(s)), string(s)} {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a directory", dir)
		}
		if err := privatedir.Make(dir); err != nil {
			return err
		}
	}
	return nil
}

// files returns the files with results.
func (s spool) files() ([]string, error) {
	if s == "" {
		return nil, nil
	}
	return filepath.Glob(filepath.Join(string(s), "*.json"))
}

// write writes a result to the disk. file is empty if there is an error.
func (s spool) write(r spooledResult) (file string, err error) {
	if s == "" {
		return "", errors.New("there is no directory for results: see WorkConfig.KeepDir")
	}
	if err := s.create(); err != nil {
		return "", err
	}
	files, err := s.files()
	if err == nil && len(files) >= maxSpooled {
		err = fmt.Errorf("%s holds %d results already", s, len(files))
	}
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	file = filepath.Join(string(s), store.Key(r.Result.ID)+".json")
	if err := privatedir.WriteFile(file, data); err != nil {
		return "", err
	}
	return file, nil
}

// readSpooled reads a file of a spool.
func readSpooled(file string) (r spooledResult, err error) {
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && r.Result == nil {
		err = errors.New("it has no result")
	}
	return r, err
}
