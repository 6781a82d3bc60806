package clichain

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

var numbers = regexp.MustCompile(`\d+(?:\.\d+)+`)

// older compares the first version numbers of two texts.
func older(version, checked string) bool {
	a, b := numbers.FindString(version), numbers.FindString(checked)
	if a == "" || b == "" {
		return false
	}
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(strings.TrimLeft(x, "0")), len(strings.TrimLeft(y, "0"))), cmp.Compare(strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")))
	}) < 0
}

// versionCache remembers versions until the program changes. It is safe for
// concurrent use.
type versionCache struct {
	file  string // "": nowhere to keep it
	mu    sync.Mutex
	known map[string]knownVersion
	dirty bool
}

// versionTTL bounds how long a version is believed: a package manager may
// exchange what the program starts, and leave it as it is.
const versionTTL = time.Hour

// knownVersion is a version, and what the program and the link to it looked
// like.
type knownVersion struct {
	Linked   time.Time `json:"linked"`
	Modified time.Time `json:"modified"`
	Size     int64     `json:"size"`
	Asked    time.Time `json:"asked"`
	Version  string    `json:"version"`
}

// stampOf is what a program looks like now.
func stampOf(path string) (stamp knownVersion, err error) {
	link, err := os.Lstat(path)
	if err != nil {
		return stamp, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return stamp, err
	}
	return knownVersion{Linked: link.ModTime(), Modified: info.ModTime(), Size: info.Size()}, nil
}

// openVersions reads the cache in a folder; empty: this user's own.
func openVersions(dir string) *versionCache {
	c := &versionCache{known: map[string]knownVersion{}}
	if dir == "" {
		dir, _ = cacheDir() // without one, nothing is kept
	}
	if dir == "" {
		return c
	}
	c.file = filepath.Join(dir, "versions.json")
	if data, err := os.ReadFile(c.file); err == nil && json.Unmarshal(data, &c.known) != nil {
		c.known = map[string]knownVersion{}
	}
	return c
}

func (c *versionCache) get(path string) string {
	now, err := stampOf(path)
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.known[path]
	age := time.Since(v.Asked)
	if !ok || err != nil || !v.Linked.Equal(now.Linked) || !v.Modified.Equal(now.Modified) || v.Size != now.Size || age < 0 || age > versionTTL {
		return ""
	}
	return v.Version
}

func (c *versionCache) put(path, version string) {
	stamp, err := stampOf(path)
	if err != nil {
		return
	}
	stamp.Asked, stamp.Version = time.Now(), version
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[path], c.dirty = stamp, true
}

// save writes the cache as a whole, or not at all; a failure costs only time.
func (c *versionCache) save() {
	if !c.dirty || c.file == "" {
		return
	}
	maps.DeleteFunc(c.known, func(path string, _ knownVersion) bool { return !exists(path) })
	data, err := json.Marshal(c.known)
	if err != nil || os.MkdirAll(filepath.Dir(c.file), 0o700) != nil {
		return
	}
	temp, err := os.CreateTemp(filepath.Dir(c.file), "versions-*")
	if err != nil {
		return
	}
	_, err = temp.Write(data)
	if closed := temp.Close(); err != nil || closed != nil || os.Rename(temp.Name(), c.file) != nil {
		_ = os.Remove(temp.Name())
	}
}
