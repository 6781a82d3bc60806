package confine

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/internal/grammar"
)

// resolver resolves symbolic links. It keeps the results, by paths whose directory has no symbolic link. It is for one
// goroutine.
type resolver map[string]location

// location is a path without symbolic links.
type location struct {
	path   string
	exists bool
}

// maxLinks limits how many symbolic links follow each other, as in the kernel.
const maxLinks = 40

// realPath resolves the symbolic links of an absolute path, even if the file does not exist.
func realPath(path string) string { return resolver{}.real(path) }

// real is realPath for several paths.
func (r resolver) real(path string) string { return r.look(path).path }

// look resolves the symbolic links of an absolute path.
func (r resolver) look(path string) location {
	if !filepath.IsAbs(path) {
		return location{path, false}
	}
	if at, known := r[path]; known {
		return at
	}
	volume := filepath.VolumeName(path)
	return r.walk(location{volume + root, true}, path[len(volume):], maxLinks)
}

// walk follows a path from a directory.
func (r resolver) walk(at location, path string, links int) location {
	for element := range strings.SplitSeq(path, root) {
		switch element {
		case "", ".":
		case "..":
			at = location{filepath.Dir(at.path), at.exists}
		default:
			at = r.step(at, element, links)
		}
	}
	return at
}

// step follows one element of a path.
func (r resolver) step(dir location, name string, links int) location {
	full := strings.TrimSuffix(dir.path, root) + root + name
	if !dir.exists {
		return location{full, false}
	}
	if at, known := r[full]; known {
		return at
	}
	info, err := os.Lstat(full)
	at := location{full, err == nil}
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		at = r.follow(dir, full, links)
	}
	r[full] = at
	return at
}

// follow follows a symbolic link in a directory.
func (r resolver) follow(dir location, link string, links int) location {
	target, err := os.Readlink(link)
	switch {
	case err != nil || links == 0:
		return location{link, false}
	case filepath.IsAbs(target):
		volume := filepath.VolumeName(target)
		return r.walk(location{volume + root, true}, target[len(volume):], links-1)
	}
	return r.walk(dir, target, links-1)
}

// expand returns the real paths of a template in the form of clispec.FileFact.Path.
func (r resolver) expand(template string, place grammar.Place) (paths []string) {
	for _, path := range expand(template, place) {
		if filepath.IsAbs(path) {
			paths = append(paths, r.real(path))
		}
	}
	return paths
}
