// Package sessionfile stores the records of sessions in files of this user. A handle contains neither the directory nor
// the usage of a session, so a person who supplies a handle cannot choose them. The package knows nothing of CLIs.
package sessionfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/session"
)

const (
	maxSize = 64 << 10            // of a record, in bytes; a path has up to 4 KiB
	keepFor = 90 * 24 * time.Hour // after the latest call
)

// line is the stored form of a record.
type line struct {
	Session string      `json:"session"`
	At      int64       `json:"at"`            // in seconds since 1970
	Dir     []byte      `json:"dir,omitempty"` // some paths are not valid UTF-8
	Used    *call.Usage `json:"used,omitempty"`
}

// Load returns the record of a session. It returns nil for a record that is damaged, not this user's own, too old, or
// of another session.
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

// parse parses a line. ok is false for a partial line, which a killed process or a full disk leaves.
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

// Save stores the record of a session and replaces an earlier one. It is safe for concurrent use by several processes.
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

// logOf returns the log of a session. Its hash selects one of 256, so that a lookup reads little.
func logOf(handle string) (log, error) {
	dir, err := localfile.StateDir()
	if err != nil {
		return log{}, err
	}
	dir = filepath.Join(dir, "sessions")
	hash := sha256.Sum256([]byte(handle))
	return log{path: filepath.Join(dir, hex.EncodeToString(hash[:1])+".jsonl")}, localfile.MakeOwnDir(dir)
}

// Known returns the record of the session that a request continues, nil if the session does not belong to the backend.
func Known(backend string, req call.Request) *session.Record {
	h, _ := session.Parse(session.Of(backend, req))
	if h.Backend != backend {
		return nil
	}
	return Load(h.String())
}

// DirOf returns the directory that a request names, otherwise the one in which its session started, if known.
func DirOf(backend string, req call.Request) string { return session.Dir(req, Known(backend, req)) }

// Without returns the request without its session and threads, in the directory of the session if that exists.
func Without(backend string, req call.Request) call.Request {
	dir := DirOf(backend, req)
	if _, err := os.Stat(dir); err != nil || req.Access == call.AccessNone {
		dir = req.Dir
	}
	req.Session, req.Threads, req.Options.Continue, req.Dir = "", nil, false, dir
	return req
}
