// Package sessionfile keeps the records of sessions in files of this user: a handle alone says neither where a session
// was made nor what it has used, so whoever gives us a handle cannot choose them. It knows nothing of CLIs.
package sessionfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/session"
)

const (
	maxSize = 64 << 10            // of a record, in bytes; a path has 4 KiB
	keepFor = 90 * 24 * time.Hour // after its latest call
)

// line is a record as it is written.
type line struct {
	Session string      `json:"session"`
	At      int64       `json:"at"`            // when, in seconds since 1970
	Dir     []byte      `json:"dir,omitempty"` // some paths are no UTF-8
	Used    *call.Usage `json:"used,omitempty"`
}

// Load returns what is known of a session. A record that is broken, not this user's own, too old, or of another session
// counts as none.
func Load(handle string) *session.Record {
	if handle == "" {
		return nil
	}
	l, err := logOf(handle)
	if err != nil {
		return nil
	}
	for text := range l.latest() {
		if !bytes.Contains(text, []byte(handle)) {
			continue
		}
		if found, ok := parse(text); ok && found.Session == handle {
			return found.record(time.Now())
		}
	}
	return nil
}

// parse reads a line. One that was cut short, by the end of its process or of the room on the disk, is none.
func parse(text []byte) (l line, ok bool) {
	ok = len(text) <= maxSize && json.Unmarshal(text, &l) == nil
	return l, ok
}

func (l *line) record(now time.Time) *session.Record {
	if now.Unix()-l.At > int64(keepFor/time.Second) || l.Used != nil && negative(*l.Used) {
		return nil
	}
	return &session.Record{Dir: string(l.Dir), Used: l.Used}
}

func negative(u call.Usage) bool {
	least := min(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.ReasoningTokens, u.Turns)
	return least < 0 || u.CostUSD != nil && *u.CostUSD < 0
}

// Save records what is known of a session, in place of an earlier record. It is safe for concurrent use, of other
// processes too.
func Save(handle string, r session.Record) error {
	l, err := logOf(handle)
	if err != nil {
		return err
	}
	text, err := json.Marshal(line{Session: handle, At: time.Now().Unix(), Dir: []byte(r.Dir), Used: r.Used})
	if err != nil {
		return err
	}
	return l.add(text)
}

// logOf is the log of a session, one of 256 that its hash chooses: so there is little to read for one session.
func logOf(handle string) (log, error) {
	dir, err := localfile.StateDir()
	if err != nil {
		return log{}, err
	}
	dir = filepath.Join(dir, "sessions")
	hash := sha256.Sum256([]byte(handle))
	return log{path: filepath.Join(dir, hex.EncodeToString(hash[:1])+".jsonl")}, localfile.MakeOwnDir(dir)
}

// Known returns what this user knows of the session that a request continues; nil if the session is not one of the
// backend.
func Known(backend string, req call.Request) *session.Record {
	h, _ := session.Parse(req.Session)
	if h.Backend != backend {
		return nil
	}
	return Load(h.String())
}

// DirOf returns the directory that a request names, or that in which its session was made, if this user knows it.
func DirOf(backend string, req call.Request) string { return session.Dir(req, Known(backend, req)) }
