package confine

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
)

// resolver resolves symbolic links. It keeps the results by absolute path, so it asks the system about each directory
// once. Other processes can change links at any time, so each call needs a new resolver. It is for one goroutine.
type resolver struct {
	known  map[string]location
	listed map[string]map[string]bool // by directory, the names of its entries, and whether they are links
}

// location is a path without symbolic links.
type location struct {
	path   string
	exists bool
}

// maxLinks limits how many symbolic links follow each other, as in the kernel.
const maxLinks = 40

func newResolver() *resolver {
	return &resolver{known: map[string]location{}, listed: map[string]map[string]bool{}}
}

// maxListed limits how many entries of a directory are read to resolve paths below it.
const maxListed = 250

// list reads directories of the homes that have only a few entries. That is cheaper than to ask the system about each
// of many paths in them.
func (r *resolver) list(homes []string, dirs ...string) {
	for _, home := range homes {
		for _, dir := range dirs {
			if at := r.look(filepath.Join(home, dir)); at.exists {
				r.entries(at.path, maxListed)
			}
		}
	}
}

// entries returns the names of the entries of a real directory, and whether they are symbolic links. It returns none if
// it cannot read the directory, or if the directory has limit entries or more. 0 means no limit.
func (r *resolver) entries(dir string, limit int) map[string]bool {
	if names, known := r.listed[dir]; known {
		return names
	}
	entries, err := localfile.List(dir, limit)
	if err != nil {
		return nil
	}
	names := make(map[string]bool, len(entries))
	for _, entry := range entries {
		names[entry.Name()] = entry.Type()&os.ModeSymlink != 0
	}
	r.listed[dir] = names
	return names
}

// real resolves the symbolic links of an absolute path, even if the file does not exist.
func (r *resolver) real(path string) string { return r.look(path).path }

// look resolves the symbolic links of an absolute path.
func (r *resolver) look(path string) location {
	switch {
	case !filepath.IsAbs(path):
		return location{path, false}
	case !grammar.IsClean(path): // ".." after a link leads to the parent of its target
		return r.walk(location{root, true}, path, maxLinks)
	}
	return r.lookClean(path)
}

// lookClean is look for a path without "..". It begins at the nearest known directory.
func (r *resolver) lookClean(path string) location {
	if at, known := r.known[path]; known {
		return at
	}
	end := strings.LastIndexByte(path, filepath.Separator)
	if path == root {
		return location{root, true}
	}
	parent := path[:max(end, len(root))]
	dir := r.lookClean(parent)
	if dir.path == parent {
		return r.step(dir, path, maxLinks)
	}
	at := r.step(dir, entry(dir.path, path[end+1:]), maxLinks)
	r.known[path] = at
	return at
}

// walk follows a path from a directory.
func (r *resolver) walk(at location, path string, links int) location {
	for element := range strings.SplitSeq(path, root) {
		switch element {
		case "", ".":
		case "..":
			at = location{filepath.Dir(at.path), at.exists}
		default:
			at = r.step(at, entry(at.path, element), links)
		}
	}
	return at
}

// entry returns the path of an entry of a directory.
func entry(dir, name string) string { return strings.TrimSuffix(dir, root) + root + name }

// step resolves an entry of a directory.
func (r *resolver) step(dir location, path string, links int) location {
	if !dir.exists {
		return location{path, false}
	}
	if at, known := r.known[path]; known {
		return at
	}
	if names, listed := r.listed[dir.path]; listed {
		if link, exists := names[path[strings.LastIndexByte(path, filepath.Separator)+1:]]; !link {
			return location{path, exists}
		}
	}
	target, err := localfile.LinkTarget(path)
	at := location{path, err == nil}
	switch {
	case target == "":
	case links == 0:
		return location{path, false} // but a path may begin at this link
	case filepath.IsAbs(target):
		at = r.walk(location{root, true}, target, links-1)
	default:
		at = r.walk(dir, target, links-1)
	}
	if at.exists || links == maxLinks {
		r.known[path] = at
	}
	return at
}

// expand returns the real paths of a template in the form of clispec.FileFact.Path.
func (r *resolver) expand(template string, place grammar.Place) []string {
	t, err := grammar.ReadPath(template)
	if err != nil {
		return nil
	}
	return r.appendReal(nil, t, place)
}

// appendReal appends the real paths of a template.
func (r *resolver) appendReal(paths []string, template grammar.PathTemplate, place grammar.Place) []string {
	found, ok := template.Paths(place)
	if !ok {
		return paths
	}
	for _, path := range found {
		if filepath.IsAbs(path) {
			paths = append(paths, r.real(path))
		}
	}
	return paths
}
