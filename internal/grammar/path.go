package grammar

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// PathTemplate is the location of a CLI's file: "${NAME:-default}/rest". "~" at the start is the home directory.
type PathTemplate struct{ variable, base, rest string }

var errPathTemplate = errors.New(
	`is not a path: write "~/file", "./file", "${NAME:-~/dir}/file" or an absolute path`)

// ReadPath parses a path template. The error lists the allowed forms.
func ReadPath(text string) (PathTemplate, error) {
	t, ok := readVariable(text)
	switch {
	case ok:
		return t, nil
	case text == "" || strings.ContainsRune(text, '$'):
		return PathTemplate{}, errPathTemplate
	}
	return PathTemplate{base: text}, nil
}

var (
	errValue = errors.New(
		`is not a valid value: write "~/dir", "${NAME}", "${NAME:-~/dir}/rest", or a text without "$"`)
	errNoHome = errors.New("the home directory is unknown: write an absolute path")
)

// ReadValue parses the value of an environment variable: a path template, or a literal text. The error lists the
// allowed forms.
func ReadValue(text string) (PathTemplate, error) {
	t, ok := readVariable(text)
	switch {
	case ok:
		return t, nil
	case strings.ContainsRune(text, '$'):
		return PathTemplate{}, errValue
	}
	return PathTemplate{base: text}, nil
}

// readVariable parses a template that starts with a variable. It is no regular expression, because a confined call
// parses about a hundred templates.
func readVariable(text string) (t PathTemplate, ok bool) {
	inner, opened := strings.CutPrefix(text, "${")
	inner, rest, closed := strings.Cut(inner, "}")
	name, base, fallback := strings.Cut(inner, ":-")
	switch {
	case !opened || !closed || !IsVariable(name) || strings.ContainsRune(rest, '$'):
		return t, false
	case fallback && base == "" || strings.ContainsAny(base, "${"):
		return t, false
	}
	return PathTemplate{name, base, rest}, true
}

// Variable returns the variable at the start of the template, "" if there is none.
func (t PathTemplate) Variable() string { return t.variable }

// Fallback returns the path of the template if its variable is not set. ok is false if there is no such path.
func (t PathTemplate) Fallback() (path string, ok bool) { return t.base + t.rest, t.base != "" }

// Place is the environment in which a CLI looks for its files.
type Place struct {
	Vars map[string]string
	Home string // "" if unknown
	Dir  string // absolute working directory
}

// Paths returns the possible paths of the file. It returns none if the variable is not set and has no default. ok is
// false if the template needs the home directory and that is unknown.
func (t PathTemplate) Paths(at Place) (paths []string, ok bool) {
	base, text := t.fill(at)
	switch {
	case base == "":
		return nil, true
	case strings.HasPrefix(text, "./"):
		return Upward(at.Dir, text[2:]), true
	case text == "~" || strings.HasPrefix(text, "~/"):
		return []string{clean(at.Home + text[1:])}, at.Home != ""
	case !filepath.IsAbs(text):
		return []string{filepath.Join(at.Dir, text)}, true
	}
	return []string{clean(text)}, true
}

// clean is filepath.Clean, but faster for a path that is clean.
func clean(path string) string {
	if IsClean(path) {
		return path
	}
	return filepath.Clean(path)
}

// IsClean reports whether an absolute path is the shortest that names its file without a look at the disk, as
// filepath.Clean returns it. It is false for other paths, and for some clean paths on Windows.
func IsClean(path string) bool {
	if path == "/" {
		return true
	}
	for rest := path; ; {
		if rest == "" || rest[0] != '/' {
			return rest == "" && path != ""
		}
		element := rest[1:]
		end := strings.IndexByte(element, '/')
		if end < 0 {
			end = len(element)
		}
		switch element[:end] {
		case "", ".", "..":
			return false
		}
		rest = element[end:]
	}
}

// Value returns the text for an environment variable. Only a value with "~" at the start becomes a path. The error
// names the missing part.
func (t PathTemplate) Value(at Place) (string, error) {
	base, text := t.fill(at)
	switch {
	case base == "" && t.variable != "":
		return "", fmt.Errorf("%s is not set", t.variable)
	case text != "~" && !strings.HasPrefix(text, "~/"):
		return text, nil
	case at.Home == "":
		return "", errNoHome
	}
	return filepath.Join(at.Home, text[1:]), nil
}

// fill substitutes the variable of the template, or its default.
func (t PathTemplate) fill(at Place) (base, text string) {
	base = t.base
	if value := at.Vars[t.variable]; t.variable != "" && value != "" {
		base = value
	}
	return base, base + t.rest
}

// Upward lists the paths of the file in a directory and all its parents.
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
