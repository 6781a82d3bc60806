package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// suffixes are the endings of programs that the system can start without a command interpreter.
var suffixes = map[bool][]string{false: {""}, true: {"", ".exe", ".com"}}[runtime.GOOS == "windows"]

// Lookup returns the absolute path of a program. It looks up a name without a slash in the absolute directories of
// list, which has the form of PATH. A relative path starts in dir. The error wraps [os/exec.ErrNotFound].
func Lookup(name, dir, list string) (string, error) {
	dirs := filepath.SplitList(list)
	switch {
	case filepath.IsAbs(name):
		dirs = []string{""}
	case strings.ContainsRune(filepath.ToSlash(name), '/'):
		dirs = []string{dir}
	}
	for _, dir := range dirs {
		for _, suffix := range suffixes {
			if path := filepath.Join(dir, name+suffix); filepath.IsAbs(path) && runnable(path) {
				return path, nil
			}
		}
	}
	return "", &missingError{fmt.Sprintf("the program %q does not exist", name)}
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || runtime.GOOS == "windows")
}
