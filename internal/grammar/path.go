package grammar

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/internal/pattern"
)

// PathTemplate is the location of a CLI's file: "${NAME:-default}/rest". "~" at the start is the home directory.
type PathTemplate struct{ variable, base, rest string }

var templateShape = pattern.Of(`^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^${}]+))?\}([^$]*)$`)

var errPathTemplate = errors.New(
	`is not a path: write "~/file", "./file", "${NAME:-~/dir}/file" or an absolute path`)

// ReadPath parses a path template. The error lists the allowed forms.
func ReadPath(text string) (PathTemplate, error) {
	m := templateShape().FindStringSubmatch(text)
	switch {
	case m != nil:
		return PathTemplate{m[1], m[2], m[3]}, nil
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
	m := templateShape().FindStringSubmatch(text)
	switch {
	case m != nil:
		return PathTemplate{m[1], m[2], m[3]}, nil
	case strings.ContainsRune(text, '$'):
		return PathTemplate{}, errValue
	}
	return PathTemplate{base: text}, nil
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
		return []string{filepath.Join(at.Home, text[1:])}, at.Home != ""
	case !filepath.IsAbs(text):
		return []string{filepath.Join(at.Dir, text)}, true
	}
	return []string{filepath.Clean(text)}, true
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
