package grammar

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/internal/pattern"
)

// PathTemplate is where a CLI keeps a file: "${NAME:-default}/rest", in which
// "~" at the start is the home directory.
type PathTemplate struct{ variable, base, rest string }

var templateShape = pattern.Of(`^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^${}]+))?\}([^$]*)$`)

var errPathTemplate = errors.New(
	`is no path: write "~/file", "./file", "${NAME:-~/folder}/file" or a path from the root`)

// ReadPath parses a path template; the error says what is allowed.
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
		`is no value: write "~/folder", "${NAME}", "${NAME:-~/folder}/rest", or a text without "$"`)
	errNoHome = errors.New("the home directory is not known: write the path from the root")
)

// ReadValue parses the value of a variable, which is a path template, or a text that stands for itself; the error says
// what is allowed.
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

// Variable is the variable at the start of the template, "" where there is none.
func (t PathTemplate) Variable() string { return t.variable }

// Place is what a CLI sees of the machine when it looks for its files.
type Place struct {
	Vars map[string]string
	Home string // "" when unknown
	Dir  string // absolute working directory
}

// Paths are the places where the file may be, none where the variable is not set
// and has no default. ok is false when the home directory is needed and unknown.
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

// Value is the text for a variable. Only "~" at its start makes a path of it. The error says what is not known.
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

// fill puts the variable into the template, or what stands in for it.
func (t PathTemplate) fill(at Place) (base, text string) {
	base = t.base
	if value := at.Vars[t.variable]; t.variable != "" && value != "" {
		base = value
	}
	return base, base + t.rest
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
