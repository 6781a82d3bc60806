package grammar

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
)

// PathTemplate is where a CLI keeps a file: "${NAME:-default}/rest", in which
// "~" at the start is the home directory.
type PathTemplate struct{ variable, base, rest string }

var templateShape = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^${}]+))?\}([^$]*)$`)

var errPathTemplate = errors.New(
	`is no path: write "~/file", "./file", "${NAME:-~/folder}/file" or a path from the root`)

// ReadPath parses a path template; the error says what is allowed.
func ReadPath(text string) (PathTemplate, error) {
	m := templateShape.FindStringSubmatch(text)
	switch {
	case m != nil:
		return PathTemplate{m[1], m[2], m[3]}, nil
	case text == "" || strings.ContainsRune(text, '$'):
		return PathTemplate{}, errPathTemplate
	}
	return PathTemplate{base: text}, nil
}

// Place is what a CLI sees of the machine when it looks for its files.
type Place struct {
	Vars map[string]string
	Home string // "" when unknown
	Dir  string // absolute working directory
}

// Paths are the places where the file may be, none where the variable is not set
// and has no default. ok is false when the home directory is needed and unknown.
func (t PathTemplate) Paths(at Place) (paths []string, ok bool) {
	base := t.base
	if value := at.Vars[t.variable]; t.variable != "" && value != "" {
		base = value
	}
	text := base + t.rest
	switch {
	case base == "":
		return nil, true
	case strings.HasPrefix(text, "./"):
		return Upward(at.Dir, text[2:]), true
	case text == "~" || strings.HasPrefix(text, "~/"):
		return []string{filepath.Join(at.Home, text[1:])}, at.Home != ""
	case !filepath.IsAbs(text):
		return []string{filepath.Join(at.Dir, text)}, true
	}
	return []string{filepath.Clean(text)}, true
}

// Upward lists the paths of the file in a directory and in all those above it.
func Upward(dir, file string) (paths []string) {
	for {
		paths = append(paths, filepath.Join(dir, file))
		parent := filepath.Dir(dir)
		if parent == dir {
			return paths
		}
		dir = parent
	}
}
