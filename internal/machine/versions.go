package machine

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/localfile"
)

// Versions caches the versions of programs by path until the program changes. Get and Put are safe for
// concurrent use.
type Versions struct {
	file  string // "" keeps the cache in memory only
	mu    sync.Mutex
	known map[string]knownVersion
	dirty bool
}

const (
	// versionTTL limits the age of an entry, because the program may be a launcher that stays the same when a
	// package manager updates the program behind it.
	versionTTL = time.Hour
	// maxVersions limits the size of the file, in bytes.
	maxVersions = 1 << 20
	// saveWait limits the wait for another process that writes the file.
	saveWait = 200 * time.Millisecond
)

type knownVersion struct {
	Stamp   localfile.Stamp `json:"stamp"`
	Asked   time.Time       `json:"asked"`
	Version string          `json:"version"`
}

// OpenVersions reads the cache in a directory; "" means this user's cache directory. A cache that cannot be
// read is empty.
func OpenVersions(dir string) *Versions {
	c := &Versions{known: map[string]knownVersion{}}
	if dir == "" {
		dir, _ = localfile.CacheDir() // on failure, Save writes nothing
	}
	if dir == "" {
		return c
	}
	c.file = filepath.Join(dir, "versions.json")
	if data, err := localfile.Read(c.file, maxVersions); err == nil && json.Unmarshal(data, &c.known) != nil {
		c.known = map[string]knownVersion{}
	}
	return c
}

// Get returns the version of the program at path. It returns "" if the version is unknown, if the program has
// changed, or if the entry is more than an hour old.
func (c *Versions) Get(path string) string {
	now, err := localfile.StampOf(path)
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.known[path]
	age := time.Since(v.Asked)
	if !ok || err != nil || v.Stamp != now || age < 0 || age > versionTTL {
		return ""
	}
	return v.Version
}

// Put caches the version of the program at path. It ignores a program that does not exist.
func (c *Versions) Put(path, version string) {
	stamp, err := localfile.StampOf(path)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[path], c.dirty = knownVersion{stamp, time.Now(), version}, true
}

// Save writes the cache to its file if it has changed, without programs that no longer exist. It ignores
// failures, after which the versions are determined again.
func (c *Versions) Save(ctx context.Context) {
	if !c.dirty || c.file == "" {
		return
	}
	maps.DeleteFunc(c.known, func(path string, _ knownVersion) bool { return !exists(path) })
	data, err := json.Marshal(c.known)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, saveWait)
	defer cancel()
	if unlock, err := localfile.Lock(ctx, c.file+".lock", time.Millisecond); err == nil {
		_ = localfile.Replace(c.file, data)
		unlock()
	}
}
