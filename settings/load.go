package settings

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/specfile"
	"github.com/clichain/clichain/specs"
)

// LoadError has all mistakes in a settings file.
type LoadError struct {
	Path     string
	Problems []*specs.Problem
}

// Error returns one line for each problem.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return "settings: " + e.Path + ": " + strings.Join(lines, "\n")
}

// DefaultPath returns the path of the settings file of this user: clichain/config.yaml in $XDG_CONFIG_HOME or
// ~/.config. It ignores a relative XDG_CONFIG_HOME, because that depends on the working directory, which may be
// untrusted.
func DefaultPath() (string, error) {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(home) {
			return "", errors.New("settings: neither XDG_CONFIG_HOME nor the home directory is an absolute path")
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "clichain", "config.yaml"), nil
}

// Load reads a settings file in YAML or JSON. Unknown fields, invalid values and texts that look like secrets are
// mistakes, which Load returns together as a [*LoadError]. Load refuses a file that another user owns or can change.
// If the file does not exist, the error wraps [io/fs.ErrNotExist]. An empty file sets nothing.
func Load(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	data, err := localfile.ReadTrusted(path, specfile.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	f := &File{}
	mistakes := f.read(data)
	if len(mistakes) > 0 {
		return nil, errorOf(path, mistakes)
	}
	f.resolve(filepath.Dir(path))
	for name, values := range f.Profiles {
		values.resolve(filepath.Dir(path))
		f.Profiles[name] = values
	}
	return f, nil
}

// CheckFile returns an error if another user owns the file or can change or replace it. Use it for other files that
// decide which programs run, such as files of specs.
func CheckFile(path string) error {
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = localfile.Trusted(path)
	}
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}

func (f *File) read(data []byte) []specfile.Mistake {
	documents, mistakes := specfile.Parse(data)
	if len(documents) == 0 {
		return mistakes
	}
	if len(documents) > 1 {
		mistakes = append(mistakes, mistake(documents[1], "", "is a second document: a settings file has one"))
	}
	f.root = documents[0]
	if found := secrets(f.root, ""); len(found) > 0 {
		return append(mistakes, found...)
	}
	mistakes = append(mistakes, specfile.Decode(f.root, "", f)...)
	mistakes = append(mistakes, empty(f.root, "", f.Values)...)
	for name, values := range f.Profiles {
		at := f.root.Get("profiles").Get(name)
		mistakes = append(mistakes, empty(at, "profiles."+name, values)...)
		if strings.TrimSpace(name) == "" {
			mistakes = append(mistakes, mistake(at, "profiles", "has a profile without a name"))
		}
	}
	return mistakes
}

func mistake(at *specfile.Node, path, problem string) specfile.Mistake {
	return specfile.Mistake{Place: at.Place, Path: path, Problem: problem}
}

// secrets finds texts that look like secrets. Programs print settings, so a settings file must not contain secrets.
func secrets(n *specfile.Node, path string) (found []specfile.Mistake) {
	if n == nil {
		return nil
	}
	if Secret(n.Value) {
		found = append(found, mistake(n, path, looksSecret))
	}
	for i, item := range n.Items {
		found = append(found, secrets(item, fmt.Sprintf("%s[%d]", path, i))...)
	}
	for _, e := range n.Entries {
		at := strings.TrimPrefix(path+"."+clean(e.Key), ".")
		if Secret(e.Key) {
			found = append(found, specfile.Mistake{Place: e.Place, Path: at, Problem: looksSecret})
		}
		found = append(found, secrets(e.Value, at)...)
	}
	return found
}

const looksSecret = "looks like a secret: put it in an environment variable that the CLI reads"

// Secret reports whether a text looks like a key or a password. Programs print settings, so a settings file must not
// contain secrets.
func Secret(text string) bool { return clean(text) != text }

func clean(text string) string { return plaintext.NewRedactor(nil).Clean(text) }

// empty finds empty lists, and empty names in lists.
func empty(at *specfile.Node, path string, v Values) (found []specfile.Mistake) {
	for field, list := range map[string][]string{"order": v.Order, "specs": v.Specs} {
		n := at.Get(field)
		where := strings.TrimPrefix(path+"."+field, ".")
		switch {
		case n == nil || n.Kind != specfile.List:
		case len(n.Items) == 0:
			found = append(found, mistake(n, where, "is empty: add an element, or omit the field"))
		default:
			for i, text := range list {
				if strings.TrimSpace(text) == "" {
					found = append(found, mistake(n.Items[i], fmt.Sprintf("%s[%d]", where, i), "is empty"))
				}
			}
		}
	}
	return found
}

// errorOf sorts the mistakes by their position in the file, and redacts secrets that they quote.
func errorOf(path string, mistakes []specfile.Mistake) *LoadError {
	slices.SortStableFunc(mistakes, func(a, b specfile.Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	e := &LoadError{Path: path}
	for _, m := range mistakes {
		e.Problems = append(e.Problems, &specs.Problem{
			Line: m.Line, Column: m.Column, Path: clean(m.Path), Message: clean(m.Problem),
		})
	}
	return e
}

// resolve makes the paths absolute.
func (v *Values) resolve(dir string) {
	for i, path := range v.Specs {
		v.Specs[i] = absolute(dir, path)
	}
	if v.Cooldowns != "" && v.Cooldowns != "off" {
		v.Cooldowns = absolute(dir, v.Cooldowns)
	}
}

func absolute(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
