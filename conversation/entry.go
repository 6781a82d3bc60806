package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/session"
)

// Entry is the conversation of one directory in a [Store]. It is not safe for concurrent use.
type Entry struct {
	store  *Store
	path   string
	dir    string
	unlock func() // nil: the entry is not locked
}

// stored is the content of the file of an entry.
type stored struct {
	Version      int             `json:"version"`
	Access       clichain.Access `json:"access"`
	Dir          []byte          `json:"dir"` // some paths are not valid UTF-8
	Conversation json.RawMessage `json:"conversation"`
}

// Dir returns the directory as an absolute path. After Load it is the path that the sessions of the conversation have,
// which can differ if the path has symbolic links.
func (e *Entry) Dir() string { return e.dir }

// Path returns the file of the entry.
func (e *Entry) Path() string { return e.path }

// Load reads the conversation as [Load] does. Unless cfg has AccessNone, Request.Dir becomes Dir. A conversation that
// was saved without access continues in a call with access, and the reverse, with all messages in new sessions, because
// the calls have different working directories. The error wraps [fs.ErrNotExist] if there is no conversation or it is
// too old, and [ErrRecord] if it cannot be read.
func (e *Entry) Load(b clichain.Backend, cfg *Config) (*Conversation, error) {
	info, err := os.Lstat(e.path)
	if err == nil && e.store.now().Sub(info.ModTime()) > e.store.maxAge {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("conversation: %w", err)
	}
	data, err := localfile.ReadOwn(e.path, maxRecord)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	s, err := parseStored(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrRecord, e.path, err)
	}
	var own Config
	if cfg != nil {
		own = *cfg
	}
	if dir := string(s.Dir); sameDir(dir, e.dir) {
		e.dir = dir
	}
	withAccess := own.Request.Access > clichain.AccessNone
	if withAccess {
		own.Request.Dir = e.dir
	}
	c, err := Load(bytes.NewReader(s.Conversation), b, &own)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, e.path)
	}
	if withAccess != (s.Access > clichain.AccessNone) {
		c.history.threads = session.WithoutSessions(c.history.threads)
	}
	return c, nil
}

func parseStored(data []byte) (s stored, err error) {
	if err = json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("it is not a valid entry: %w", err)
	}
	if s.Version != recordVersion {
		return s, fmt.Errorf("it has version %d, and this program reads version %d", s.Version, recordVersion)
	}
	return s, nil
}

func sameDir(a, b string) bool {
	realA, errA := filepath.EvalSymlinks(a)
	realB, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && realA == realB && filepath.IsAbs(a)
}

// Save writes the conversation as [Conversation.Save] does, and replaces the earlier one of the directory. A reader
// sees either of them. It does not wait for the disk. It returns an error for a conversation of more than 64 MiB.
func (e *Entry) Save(c *Conversation) error {
	if e.unlock == nil {
		return errNotLocked
	}
	var record bytes.Buffer
	if err := c.Save(&record); err != nil {
		return err
	}
	s := stored{
		Version: recordVersion, Access: c.cfg.Request.Access, Dir: []byte(e.dir), Conversation: record.Bytes(),
	}
	data, err := json.Marshal(s)
	if err == nil && len(data) > maxRecord {
		err = fmt.Errorf("%s %w: %d bytes", e.path, localfile.ErrTooBig, len(data))
	}
	if err == nil {
		err = localfile.Replace(e.path, data)
	}
	if err != nil {
		return fmt.Errorf("conversation: the record cannot be written: %w", err)
	}
	e.store.clean()
	return nil
}

// Unlock lets other processes lock the entry. Later calls do nothing.
func (e *Entry) Unlock() {
	if e.unlock != nil {
		e.unlock()
		e.unlock = nil
	}
}
