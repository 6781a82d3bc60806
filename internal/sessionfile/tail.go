package sessionfile

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/localfile"
)

const (
	// maxTail is the part of a file that Tail returns, in bytes. Lines of a session can have a whole answer.
	maxTail = 1 << 20
	// maxDirs limits the directories in which Tail looks for a file, and maxEntries the files of each.
	maxDirs, maxEntries = 2000, 20_000
)

// Tail returns the end of the file of a session that a CLI has stored, or nil if it cannot be read. A name in the path
// may contain one "*", which stands for any text; of several files, Tail reads the one with the last name.
func Tail(path string) []byte {
	volume := filepath.VolumeName(path)
	names := strings.Split(filepath.ToSlash(path[len(volume):]), "/")
	s := search{left: maxDirs}
	file := s.last(volume+string(filepath.Separator), names)
	if file == "" {
		return nil
	}
	data, err := localfile.ReadTail(file, maxTail)
	if err != nil {
		return nil
	}
	return data
}

// search is a search for one file.
type search struct{ left int } // directories that it may still list

// last returns the path of the last file below dir with the names, or "" if there is none.
func (s *search) last(dir string, names []string) string {
	if len(names) == 0 {
		return dir
	}
	before, after, any := strings.Cut(names[0], "*")
	if !any {
		return s.last(filepath.Join(dir, names[0]), names[1:])
	}
	if s.left--; s.left < 0 {
		return ""
	}
	entries, _ := localfile.List(dir, maxEntries)
	var found []string
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), before)
		if ok && strings.HasSuffix(rest, after) {
			found = append(found, e.Name())
		}
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Compare(b, a) })
	for _, name := range found {
		if file := s.last(filepath.Join(dir, name), names[1:]); file != "" {
			return file
		}
	}
	return ""
}
