package cassette

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/localfile"
)

// maxFiles is the maximum number of entries of a directory.
const maxFiles = 10_000

// File is a recording in a directory.
type File struct {
	Path string
	Data []byte // as read, for Decode
	Key  Key    // of the request
	Cassette
}

// Load reads all recordings of a directory, sorted by name. It ignores files whose names do not end with ".json".
func Load(dir string) (files []File, err error) {
	entries, err := localfile.List(dir, maxFiles)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	first := map[Key]string{}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if filepath.Ext(path) != ".json" {
			continue
		}
		f, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if other, twice := first[f.Key]; twice {
			return nil, fmt.Errorf("%s and %s have the same request: delete one of them", other, path)
		}
		first[f.Key] = path
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no recordings", dir)
	}
	return files, nil
}

func read(path string) (f File, err error) {
	data, err := localfile.Read(path, MaxBytes)
	if err != nil {
		return f, err
	}
	c, err := Decode(data)
	if err != nil {
		return f, err
	}
	return File{path, data, c.Request.Key(), *c}, nil
}

// Write replaces the file at path; see [localfile.ReplaceBy]. Several processes may write the same path.
func Write(path string, data []byte, mode fs.FileMode) error {
	return localfile.ReplaceBy(filepath.Join(filepath.Dir(path), TempPrefix+rand.Text()), path, data, mode)
}

// TempPrefix is the beginning of the names of files that are not yet complete.
const TempPrefix = ".new-"

// Nearest returns the recording whose request has the most words in common with a request.
func Nearest(files []File, req Request) (nearest File) {
	wanted, best := words(req), -1.0
	for _, f := range files {
		if score := similarity(wanted, words(f.Request)); score > best {
			nearest, best = f, score
		}
	}
	return nearest
}

// words returns how often the request has each word.
func words(req Request) map[string]int {
	found := map[string]int{}
	for _, line := range req.lines() {
		for word := range strings.FieldsSeq(line) {
			found[word]++
		}
	}
	return found
}

// similarity returns the Dice coefficient of two bags of words: 1 if they are equal, 0 if they share no word.
func similarity(a, b map[string]int) float64 {
	both, all := 0, 0
	for word, n := range a {
		both, all = both+min(n, b[word]), all+n
	}
	for _, n := range b {
		all += n
	}
	return 2 * float64(both) / float64(all)
}
