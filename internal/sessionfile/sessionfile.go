// Package sessionfile keeps the records of sessions in files of this user: a handle alone says neither where a session
// was made nor what it has used, so whoever gives us a handle cannot choose them.
package sessionfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/session"
)

const (
	maxSize = 64 << 10            // of a record, in bytes; a path has 4 KiB
	keepFor = 90 * 24 * time.Hour // after its latest call
)

// file is a record as it is written. The handle is in it, because a file may have been renamed.
type file struct {
	Session string      `json:"session"`
	Dir     []byte      `json:"dir,omitempty"` // some paths are no UTF-8
	Used    *call.Usage `json:"used,omitempty"`
}

// Load returns what is known of a session. A record that is broken, not this user's own, or of another session counts
// as none.
func Load(handle string) *session.Record {
	if handle == "" {
		return nil
	}
	path, err := pathOf(handle)
	if err != nil {
		return nil
	}
	data, err := localfile.ReadOwn(path, maxSize)
	if err != nil {
		return nil
	}
	var f file
	if json.Unmarshal(data, &f) != nil || f.Session != handle || f.Used != nil && negative(*f.Used) {
		return nil
	}
	return &session.Record{Dir: string(f.Dir), Used: f.Used}
}

func negative(u call.Usage) bool {
	least := min(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.ReasoningTokens, u.Turns)
	return least < 0 || u.CostUSD != nil && *u.CostUSD < 0
}

// Save records what is known of a session, in place of an earlier record. It is safe for concurrent use, of other
// processes too: a reader finds one record or the other, and of a new session one or none.
func Save(handle string, r session.Record) error {
	path, err := pathOf(handle)
	if err != nil {
		return err
	}
	data, err := json.Marshal(file{Session: handle, Dir: []byte(r.Dir), Used: r.Used})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	defer removeOld(filepath.Dir(path))
	err = localfile.Create(path, data) // nobody knows a new session yet, so nobody reads the half of its record
	if errors.Is(err, fs.ErrExist) {
		err = localfile.Put(path, data)
	}
	return err
}

// pathOf is the file of a record, in the one of 256 folders that its hash chooses: so each process has few to look
// through for old ones.
func pathOf(handle string) (string, error) {
	dir, err := localfile.StateDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "sessions")
	hash := sha256.Sum256([]byte(handle))
	return filepath.Join(dir, hex.EncodeToString(hash[:1]), hex.EncodeToString(hash[1:])), localfile.Private(dir)
}

var once sync.Once

// removeOld removes the records in a folder that nobody has gone on from for long, once in the life of this process.
func removeOld(dir string) {
	once.Do(func() { localfile.RemoveOld(dir, time.Now().Add(-keepFor)) })
}
