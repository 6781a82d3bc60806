package machine

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/localfile"
)

var numbers = regexp.MustCompile(`\d+(?:\.\d+)+`)

// Older compares the first version numbers of two texts.
func Older(version, checked string) bool {
	a, b := numbers.FindString(version), numbers.FindString(checked)
	if a == "" || b == "" {
		return false
	}
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(strings.TrimLeft(x, "0")), len(strings.TrimLeft(y, "0"))), cmp.Compare(strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")))
	}) < 0
}

// Versions remembers versions until the program changes. It is safe for
// concurrent use.
type Versions struct {
	file  string // "": nowhere to keep it
	mu    sync.Mutex
	known map[string]knownVersion
	dirty bool
}

// versionTTL bounds how long a version is believed: a package manager may
// exchange what the program starts, and leave it as it is.
const versionTTL = time.Hour

const (
	// maxVersions bounds the file, in bytes.
	maxVersions = 1 << 20
	// saveWait bounds the wait for another process that writes it.
	saveWait = 200 * time.Millisecond
)

// knownVersion is a version, and what the program looked like.
type knownVersion struct {
	Stamp   localfile.Stamp `json:"stamp"`
	Asked   time.Time       `json:"asked"`
	Version string          `json:"version"`
}

// OpenVersions reads the cache in a folder; empty: this user's own.
func OpenVersions(dir string) *Versions {
	c := &Versions{known: map[string]knownVersion{}}
	if dir == "" {
		dir, _ = localfile.CacheDir() // without one, nothing is kept
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

func (c *Versions) Put(path, version string) {
	stamp, err := localfile.StampOf(path)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[path], c.dirty = knownVersion{stamp, time.Now(), version}, true
}

// Save writes the cache as a whole, or not at all; a failure costs only time.
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
