package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Status returns how the files of the original differ from its commit, as "git status --porcelain=v2 -z" prints it,
// with every untracked file and without renames. It compares with a copy of the original's index in the git directory
// of own, whose Options.Objects must contain Objects, and whose Options.Excludes decide which files are ignored.
// Submodules are left out, and a nested repository is one entry that ends with a slash. A file is compared byte by byte
// if its size or time differs from the index: a conversion, such as that of line endings, can make it modified.
func (o Original) Status(ctx context.Context, own Repo) ([]byte, error) {
	index := filepath.Join(own.Dir, "original-index")
	if err := o.copyIndex(own.Dir, index); err != nil {
		return nil, fmt.Errorf("workspace: copy the index of %s: %w", o.Top, err)
	}
	head := o.Commit
	if head == "" {
		head = "ref: refs/heads/main"
	}
	if err := os.WriteFile(filepath.Join(own.Dir, "HEAD"), []byte(head+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	c := Repo{Dir: own.Dir, Files: o.Top}.withIndex(index, nil, []string{
		"status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames",
	})
	c.strict = true
	return c.output(ctx)
}

// copyIndex copies the index with its time, which git compares with those of the files.
func (o Original) copyIndex(dir, to string) error {
	if err := copyFile(o.Index, to); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(to)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	shared, err := filepath.Glob(filepath.Join(escape(filepath.Dir(o.Index)), "sharedindex.*"))
	if err != nil {
		return err
	}
	for _, path := range shared {
		if err := copyFile(path, filepath.Join(dir, filepath.Base(path))); err != nil {
			return err
		}
	}
	return nil
}

// escape returns a path as a pattern of filepath.Glob.
func escape(path string) string {
	var pattern bytes.Buffer
	for _, c := range []byte(path) {
		if bytes.IndexByte([]byte(`*?[\`), c) >= 0 && c != filepath.Separator {
			pattern.WriteByte('\\')
		}
		pattern.WriteByte(c)
	}
	return pattern.String()
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", from)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// Excludes returns the patterns of the user's own excludes file and of the repository's info/exclude, for Options.
func (o Original) Excludes(ctx context.Context) ([]byte, error) {
	name, err := optional(o.Ask(ctx, nil, "config", "--get", "--path", "core.excludesFile"))
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = defaultExcludes()
	}
	var patterns []byte
	for _, path := range []string{name, filepath.Join(o.CommonDir, "info", "exclude")} {
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.Top, path)
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue // git ignores such a file too
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("workspace: %w", err)
		}
		patterns = append(append(patterns, data...), '\n')
	}
	return patterns, nil
}

func defaultExcludes() string {
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		config = filepath.Join(home, ".config")
	}
	return filepath.Join(config, "git", "ignore")
}
