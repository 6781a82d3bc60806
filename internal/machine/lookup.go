package machine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// suffixes are the endings of programs on Windows, in the order of its command interpreter. The other endings that
// PATHEXT usually has are those of scripts, which the system does not start. A file without an ending is no program:
// npm puts a script for Unix shells beside the batch file.
var suffixes = []string{".com", ".exe", ".bat", ".cmd"}

// Lookup returns the absolute path of a program. It looks up a name without a slash in the absolute directories of
// list, which has the form of PATH. A relative path starts in dir. On Windows, it adds the endings of programs to the
// name, and refuses a path that depends on the current drive or its directory. The error wraps [os/exec.ErrNotFound].
func Lookup(name, dir, list string) (string, error) {
	dirs := filepath.SplitList(list)
	switch {
	case filepath.IsAbs(name):
		dirs = []string{""}
	case runtime.GOOS == "windows" && (filepath.VolumeName(name) != "" || name != "" && os.IsPathSeparator(name[0])):
		const problem = "the path %q depends on the current drive or directory: write an absolute path"
		return "", &missingError{fmt.Sprintf(problem, name)}
	case strings.ContainsRune(filepath.ToSlash(name), '/'):
		dirs = []string{dir}
	}
	for _, dir := range dirs {
		for _, name := range programNames(name) {
			if path := filepath.Join(dir, name); filepath.IsAbs(path) && runnable(path) {
				return path, nil
			}
		}
	}
	return "", &missingError{fmt.Sprintf("the program %q does not exist", name)}
}

// programNames returns the names of the files that the name of a program may mean.
func programNames(name string) (names []string) {
	if runtime.GOOS != "windows" || slices.Contains(suffixes, strings.ToLower(filepath.Ext(name))) {
		return []string{name}
	}
	for _, suffix := range suffixes {
		names = append(names, name+suffix)
	}
	return names
}

// onPath returns the path of a program on PATH. On Windows, it ignores the current directory, which the system searches
// first, and scripts, which [exec.LookPath] finds if PATHEXT has their ending.
func onPath(name string) (string, error) {
	if runtime.GOOS == "windows" {
		return Lookup(name, "", os.Getenv("PATH"))
	}
	return exec.LookPath(name)
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || runtime.GOOS == "windows")
}
