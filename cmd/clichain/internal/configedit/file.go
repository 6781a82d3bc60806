package configedit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/settings"
)

// file is the settings file to change.
type file struct {
	path   string // with symbolic links resolved
	data   []byte
	exists bool
}

// open finds and reads the settings file of a command. A file that does not exist is empty.
func open(command string, r *selection.Resolver) (*file, error) {
	place, err := r.SettingsPath()
	if err != nil {
		return nil, err
	}
	if place.Value == "" {
		return nil, console.Usagef("%s: no settings file is used; name one with --config", command)
	}
	f := &file{}
	if f.path, err = filepath.Abs(place.Value); err != nil {
		return nil, console.Usagef("%s: %v", command, err)
	}
	if target, err := filepath.EvalSymlinks(f.path); err == nil {
		f.path = target
	}
	f.data, err = os.ReadFile(f.path)
	if f.exists = err == nil; !f.exists && !errors.Is(err, fs.ErrNotExist) {
		return nil, console.Usagef("%s: %v", command, err)
	}
	return f, nil
}

// draft writes data to a new file next to the settings file, so that relative paths in it mean the same.
func (f *file) draft(data []byte) (name string, err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return "", console.Fail(console.ExitFailed, err)
	}
	out, err := os.CreateTemp(filepath.Dir(f.path), ".config-*.yaml")
	if err != nil {
		return "", console.Fail(console.ExitFailed, err)
	}
	_, err = out.Write(data)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return "", console.Fail(console.ExitFailed, errors.Join(err, os.Remove(out.Name())))
	}
	return out.Name(), nil
}

// check validates a draft as if it were the settings file.
func (f *file) check(draft string) error {
	profiles := []string{""}
	if loaded, err := settings.Load(draft); err == nil {
		for name := range loaded.Profiles {
			profiles = append(profiles, name)
		}
	}
	slices.Sort(profiles)
	for _, profile := range profiles {
		r := selection.NewResolver(&console.Env{Getenv: func(string) string { return "" }})
		r.ConfigFlag, r.ProfileFlag = draft, profile
		c, err := r.Catalog(nil)
		if err == nil {
			_, err = r.Choose(c, nil)
		}
		if err != nil {
			return console.Usagef("%s", strings.ReplaceAll(console.Message(err), draft, f.path))
		}
	}
	return nil
}

// replace makes a draft the settings file. The settings file is either the old or the new one at any time.
func (f *file) replace(draft string) error {
	if f.exists {
		info, err := os.Stat(f.path)
		if err == nil {
			err = os.Chmod(draft, info.Mode().Perm())
		}
		if err != nil {
			return console.Fail(console.ExitFailed, err)
		}
	}
	if err := os.Rename(draft, f.path); err != nil {
		return console.Fail(console.ExitFailed, err)
	}
	return nil
}

// write validates data and makes it the content of the settings file.
func (f *file) write(data []byte) error {
	draft, err := f.draft(data)
	if err != nil {
		return err
	}
	if err = f.check(draft); err == nil {
		err = f.replace(draft)
	}
	if err != nil {
		_ = os.Remove(draft) // the first error matters more
	}
	return err
}
