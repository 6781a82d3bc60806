package home

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Living lists the live processes of this machine, but for this one, that the home can be seen in: in their
// environment, their arguments or their working directory. Each is its id and its arguments, with a space before each
// of them. It uses nothing of what the library itself finds processes by. It is empty where there is no /proc.
func (h Home) Living() (found []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if filepath.Base(dir) == strconv.Itoa(os.Getpid()) {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(dir, "environ")) // gone already, or a zombie: empty
		cmdline, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if strings.Contains(string(environ)+string(cmdline)+cwd, h.Dir) {
			found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return found
}
