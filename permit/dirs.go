package permit

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/clichain/clichain/call"
)

// dirs are the directories that are allowed.
func (p *Permissions) dirs() []string {
	if len(p.Dirs) == 0 && p.Access > call.AccessNone {
		return []string{"."}
	}
	return p.Dirs
}

// resolveDir replaces the directory by its real path. Without one, a session would choose its own, which may lie
// anywhere, and any other call gets the first that is allowed.
func resolveDir(p *Permissions, req *call.Request) *call.Error {
	if req.Dir == "" {
		if req.Access == call.AccessNone {
			return nil
		}
		if req.Session != "" {
			return refused("dirs", "dir", "a request that continues a session with access has to name a directory")
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

// within returns the real path of a file or directory that lies in or below one of those that are allowed.
func (p *Permissions) within(field, path string) (string, *call.Error) {
	real, err := realPath(path)
	if err != nil {
		return "", refused("dirs", field, "%.200q cannot be examined: %v", path, err)
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
	return "", refused("dirs", field, "%.200q lies outside of the directories that are allowed", real)
}

// realPath is the absolute path after all links are followed. What is not there yet, or only in a container, keeps its
// name. A link to nothing is an error: its target can be made later.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	missing := ""
	for dir := abs; ; dir = filepath.Dir(dir) {
		found, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(found, missing), nil
		}
		if _, there := os.Lstat(dir); !os.IsNotExist(there) || dir == filepath.Dir(dir) {
			return "", err
		}
		missing = filepath.Join(filepath.Base(dir), missing)
	}
}
