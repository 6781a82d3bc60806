package jetstream

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// maxKept bounds the results in the folder of a queue. One worker keeps as many as it
// has slots.
const maxKept = 1000

// keptResult is a result in a file.
type keptResult struct {
	Result *Result `json:"result"`
	// Sequence is that of the job's message. Zero: the message cannot be read.
	Sequence uint64 `json:"sequence"`
	// MayAct: a mark in the queue says that the job was begun.
	MayAct bool `json:"may_act,omitempty"`
}

// unstoredFolder is the folder for the results of this very queue: one that was removed
// and made again is another.
func (q *Queue) unstoredFolder(base string) (string, error) {
	if base == "" {
		state, err := stateHome()
		if err != nil {
			return "", err
		}
		base = filepath.Join(state, "clichain", "results")
	}
	made := q.results.CachedInfo().Created.UTC().Format(time.RFC3339Nano)
	sum := sha256.Sum256([]byte(q.streamName("results") + " " + made))
	return filepath.Join(base, hex.EncodeToString(sum[:16])), nil
}

// makeUnstoredFolder makes the folder of a queue, and that of all queues, for this user
// alone.
func makeUnstoredFolder(folder string) error {
	for _, dir := range []string{filepath.Dir(folder), folder} {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a folder", dir)
		}
		if err := private(dir); err != nil {
			return err
		}
	}
	return nil
}

// stateHome is where programs of this user keep what cannot be made again.
func stateHome() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	if runtime.GOOS == "windows" {
		return os.UserCacheDir()
	}
	home, err := os.UserHomeDir()
	if err == nil {
		_, err = os.Stat(home) // one that is missing is never made
	}
	return filepath.Join(home, ".local", "state"), err
}

// keepResult writes a result to the disk. The file is empty if there is an error.
func (w *worker) keepResult(key string, kept keptResult) (file string, err error) {
	if w.folder == "" {
		return "", errors.New("there is no folder for results: see WorkConfig.KeepDir")
	}
	if err := makeUnstoredFolder(w.folder); err != nil {
		return "", err
	}
	there, err := filepath.Glob(filepath.Join(w.folder, "*.json"))
	if err == nil && len(there) >= maxKept {
		err = fmt.Errorf("%s holds %d results already", w.folder, len(there))
	}
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(kept)
	if err != nil {
		return "", err
	}
	file = filepath.Join(w.folder, key+".json")
	if err := writeSynced(file, data); err != nil {
		return "", err
	}
	return file, nil
}

// writeSynced writes a file that is whole or not there, also after a power cut.
func writeSynced(file string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), "new-*") // with the permissions 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if dir, err := os.Open(filepath.Dir(file)); err == nil {
		_ = dir.Sync() // some systems cannot
		_ = dir.Close()
	}
	return nil
}
