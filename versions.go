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

type knownVersion struct {
	Modified time.Time `json:"modified"`
	Size     int64     `json:"size"`
	Version  string    `json:"version"`
}

func (d *doctor) openVersions() *versionCache {
	c := &versionCache{known: map[string]knownVersion{}}
	dir := d.cfg.CacheDir
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
	info, err := os.Stat(path)
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.known[path]; ok && err == nil && v.Modified.Equal(info.ModTime()) && v.Size == info.Size() {
		return v.Version
	}
	return ""
}

func (c *versionCache) put(path, version string) {
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[path], c.dirty = knownVersion{info.ModTime(), info.Size(), version}, true
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
