package proc

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// check finds the mistakes that the system reports badly or not at all. Sizes are left to the system: it knows its
// limits, and refuses before anything has run.
func (c Command) check() error {
	if hasNUL(c.Path) || hasNUL(c.Dir) || slices.ContainsFunc(c.Args, hasNUL) || slices.ContainsFunc(c.Env, hasNUL) {
		return &SpawnError{ArgNUL, c.Path, errors.New("zero byte in path, directory, arguments or environment")}
	}
	if !filepath.IsAbs(c.Path) {
		return &SpawnError{NotFound, c.Path, errors.New("path is not absolute")}
	}
	if err := checkDir(c.Dir); err != nil {
		return &SpawnError{BadDir, c.Dir, err}
	}
	return checkSystem(c)
}

func hasNUL(s string) bool { return strings.Contains(s, "\x00") }

// checkDir exists because a missing directory is reported as a missing program.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &os.PathError{Op: "chdir", Path: dir, Err: syscall.ENOTDIR}
	}
	return checkEnter(dir)
}
