package confine

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/localfile"
)

const (
	// maxWatched limits how many files are watched in each directory.
	maxWatched = 500
	// maxHashed limits the size of a file whose content is compared, in bytes. Of a larger file, the size, the time of
	// the last change and the inode are compared.
	maxHashed = 1 << 20
	// maxWarnings limits how many changes are returned.
	maxWarnings = 20
)

// The last words of a warning: why a change of the file matters.
const (
	nextStart = "which acts at the next start of the CLI, outside the confinement"
	gitRuns   = "which git runs outside the confinement"
	gitReads  = "which git reads outside the confinement"
)

// Watched holds the state of the files that act outside the confinement: settings and hooks of the CLI, and at
// AccessWrite the hooks and the settings of the repository. The zero value watches nothing.
type Watched struct {
	roots []watchedRoot
	files map[string]watchedFile
}

// watchedRoot is a watched file or directory, or a value in a JSON file.
type watchedRoot struct {
	path, why string
	value     string // the gjson path of the value; "" for the whole file
}

// watchedFile identifies the content of a file.
type watchedFile struct {
	stamp localfile.Stamp
	link  string // the target of a symbolic link
	hash  [sha256.Size]byte
	blank bool // the file is an empty JSON object
	why   string
}

// Watch reads the watched files before a run. It watches nothing at AccessFull.
func Watch(in Input) Watched {
	w := Watched{files: map[string]watchedFile{}}
	if in.Access == call.AccessFull {
		return w
	}
	place, links := placeOf(in), newResolver()
	for _, state := range in.Spec.Confine.State {
		for _, path := range links.expand(state.Path, place) {
			for _, name := range state.Watch {
				if state.File {
					w.roots = append(w.roots, watchedRoot{path, nextStart, name})
					continue
				}
				w.add(filepath.Join(path, filepath.FromSlash(name)), nextStart)
			}
		}
	}
	if in.Access == call.AccessWrite {
		for _, dir := range append([]string{in.Dir}, in.AddDirs...) {
			if !links.copied(links.real(dir)) { // only the agent uses the repository of a private copy
				w.addRepository(links, dir)
			}
		}
	}
	w.files = w.read(links)
	return w
}

func (w *Watched) add(path, why string) { w.roots = append(w.roots, watchedRoot{path: path, why: why}) }

func (w *Watched) addRepository(links *resolver, dir string) {
	r, ok := links.findRepository(dir)
	if !ok { // the run may create one
		created := filepath.Join(dir, ".git")
		r = repository{dir, created, created}
	}
	w.add(filepath.Join(r.common, "hooks"), gitRuns)
	for _, dir := range slices.Compact([]string{r.common, r.dir}) {
		w.add(filepath.Join(dir, "config"), gitReads)
		w.add(filepath.Join(dir, "config.worktree"), gitReads)
	}
	for _, setting := range readSettings(filepath.Join(r.common, "config")) {
		if setting.name == "core.hookspath" && setting.value != "" {
			w.add(links.join(r.top, setting.value), gitRuns)
		}
	}
}

// read returns the present state of all watched files.
func (w *Watched) read(links *resolver) map[string]watchedFile {
	files := map[string]watchedFile{}
	for _, root := range w.roots {
		if root.value != "" {
			if file, ok := lookValue(root); ok {
				files[root.path+" ("+root.value+")"] = file
			}
			continue
		}
		// A link is watched with its target.
		for _, dir := range slices.Compact([]string{root.path, links.real(root.path)}) {
			count := 0
			_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() || strings.HasSuffix(path, ".sample") {
					return nil // git does not run samples
				}
				if count++; count > maxWatched {
					return fs.SkipAll
				}
				files[path] = look(path, root.why)
				return nil
			})
		}
	}
	return files
}

func look(path, why string) watchedFile {
	file := watchedFile{why: why}
	info, err := os.Lstat(path)
	if err != nil {
		return file
	}
	file.stamp = localfile.StampOfInfo(info)
	if info.Mode()&fs.ModeSymlink != 0 {
		file.link, _ = os.Readlink(path) // an unreadable link has no target
		file.stamp, _ = localfile.StampOf(path)
	}
	if data, err := localfile.Read(path, maxHashed); err == nil {
		file.hash, file.blank = sha256.Sum256(data), strings.TrimSpace(string(data)) == "{}"
	}
	return file
}

// same reports whether the content, the mode and the target of a link are the same.
func (f watchedFile) same(other watchedFile) bool {
	if f.stamp.Mode != other.stamp.Mode || f.link != other.link || f.hash != other.hash {
		return false
	}
	return f.hash != [sha256.Size]byte{} || f.stamp == other.stamp
}

// Changed returns a warning for each file that was created, changed or removed since [Watch], sorted by path. It
// returns at most 20, and then the number of the others.
func (w *Watched) Changed() (warnings []string) {
	now := w.read(newResolver())
	all := maps.Clone(now)
	maps.Copy(all, w.files)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		before, existed := w.files[path]
		after, exists := now[path]
		verb := "changed"
		switch {
		case !existed && after.blank:
			continue // some CLIs create such files at their first start
		case !existed:
			verb = "created"
		case !exists:
			verb = "removed"
		case before.same(after):
			continue
		}
		warnings = append(warnings, fmt.Sprintf("the run %s %s, %s", verb, path, all[path].why))
	}
	if more := len(warnings) - maxWarnings; more > 0 {
		last := fmt.Sprintf("the run changed %d more files that act outside the confinement", more)
		warnings = append(warnings[:maxWarnings], last)
	}
	return warnings
}
