package permit

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/clichain/clichain/call"
)

// dirs returns the permitted directories.
func (p *Permissions) dirs() []string {
	if len(p.Dirs) == 0 && p.Access > call.AccessNone {
		return []string{"."}
	}
	return p.Dirs
}

// resolveDir replaces the directory with its real path. A request without a directory gets the first permitted one,
// unless it continues a session, whose directory may be anywhere.
func resolveDir(p *Permissions, req *call.Request) *call.Error {
	if req.Dir == "" {
		if req.Access == call.AccessNone {
			return nil
		}
		if req.Session != "" || len(req.Threads) > 0 {
			return refused("dirs", "dir", "a request with access that continues a session must have a directory")
		}
		req.Dir = p.dirs()[0]
	}
	var err *call.Error
	req.Dir, err = p.within("dir", req.Dir)
	return err
}

func resolveAddDirs(p *Permissions, req *call.Request) (err *call.Error) {
	req.Options.AddDirs, err = p.allWithin("options.add_dirs", req.Options.AddDirs)
	return err
}

func resolveImages(p *Permissions, req *call.Request) (err *call.Error) {
	req.Options.Images, err = p.allWithin("options.images", req.Options.Images)
	return err
}

func (p *Permissions) allWithin(field string, paths []string) (found []string, err *call.Error) {
	for i, path := range paths {
		real, err := p.within(fmt.Sprintf("%s[%d]", field, i), path)
		if err != nil {
			return nil, err
		}
		found = append(found, real)
	}
	return found, nil
}

// within returns the real path of a file or directory in or below a permitted directory.
func (p *Permissions) within(field, path string) (string, *call.Error) {
	real, err := realPath(path)
	if err != nil {
		return "", refused("dirs", field, "%.200q cannot be resolved: %v", path, err)
	}
	for _, dir := range p.dirs() {
		top, err := realPath(dir)
		if err != nil {
			continue
		}
		if below, err := filepath.Rel(top, real); err == nil && filepath.IsLocal(below) {
			return real, nil
		}
	}
	return "", refused("dirs", field, "%.200q is outside of the permitted directories", real)
}

// realPath returns the absolute path with all symbolic links resolved. Elements that do not exist, or only in a
// container, keep their names. A dangling link is an error, because its target can be created later.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	missing := ""
	for dir := abs; ; dir = filepath.Dir(dir) {
		found, err := filepath.EvalSymlinks(dir)
		if err == nil && missing != "" && !isDir(found) {
			return "", &fs.PathError{Op: "stat", Path: abs, Err: syscall.ENOTDIR} // Windows reports a missing file
		}
		if err == nil {
			return filepath.Join(found, missing), nil
		}
		if _, there := os.Lstat(dir); !os.IsNotExist(there) || dir == filepath.Dir(dir) {
			return "", err
		}
		missing = filepath.Join(filepath.Base(dir), missing)
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
