package home

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Living lists the live processes of this machine, except this one, whose environment, arguments or working directory
// contain the home. Each entry is a process ID and the arguments, each with a space before it. It shares no code with
// the library's own search for processes. It is empty if there is no /proc.
func (h Home) Living() (found []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if filepath.Base(dir) == strconv.Itoa(os.Getpid()) {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(dir, "environ")) // empty if the process has exited or is a zombie
		cmdline, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if strings.Contains(string(environ)+string(cmdline)+cwd, h.Dir) {
			found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return found
}
