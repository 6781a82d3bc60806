package conversation

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	maxFiles = 50   // that a message names
	maxPath  = 4096 // bytes
)

// pathFields are the names under which the tools of the CLIs get the path of a file.
var pathFields = []string{
	"file_path", "filePath", "path", "absolute_path", "notebook_path", "filename", "file", "target_file",
}

// changes collects the files that an agent changed, as far as its tools name them.
type changes struct {
	dir   string
	since time.Time
	paths []string
}

// see notes the paths in the input of a tool.
func (c *changes) see(input json.RawMessage) {
	var value any
	if json.Unmarshal(input, &value) == nil {
		c.find(value)
	}
}

func (c *changes) find(value any) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			c.find(element)
		}
	case map[string]any:
		for name, element := range value {
			path, isText := element.(string)
			switch {
			case !isText:
				c.find(element)
			case slices.Contains(pathFields, name):
				c.note(path)
			}
		}
	}
}

func (c *changes) note(path string) {
	if path == "" || len(path) > maxPath || strings.ContainsRune(path, 0) || len(c.paths) >= 100*maxFiles {
		return
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.dir, path)
	}
	if below, err := filepath.Rel(c.dir, path); err == nil && filepath.IsLocal(below) && !slices.Contains(c.paths, below) {
		c.paths = append(c.paths, below)
	}
}

// files returns the files below the directory that were written since the turn began, sorted. A tool that only read a
// file names it too.
func (c *changes) files() []string {
	const coarse = 2 * time.Second // some file systems store no finer times
	written := slices.DeleteFunc(slices.Clone(c.paths), func(path string) bool {
		info, err := os.Lstat(filepath.Join(c.dir, path))
		return err != nil || !info.Mode().IsRegular() || info.ModTime().Before(c.since.Add(-coarse))
	})
	slices.Sort(written)
	return written[:min(len(written), maxFiles)]
}

// union returns the sorted elements of both lists, at most maxFiles.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxFiles)]
}
