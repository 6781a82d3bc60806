package fake

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Survivors lists the live processes that have token as one of their arguments. All processes of a fake have its path
// as an argument, whatever their session, parent or environment; another argument that only one test uses also works.
// Zombies do not count. Without /proc the list is empty.
func Survivors(token string) []Survivor {
	var found []Survivor
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err != nil {
			continue // the process has ended meanwhile
		}
		args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		if slices.Contains(args, token) {
			found = append(found, Survivor{pid, args})
		}
	}
	return found
}

func getsid() int {
	id, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0) // cannot fail for the calling process
	return int(id)
}
