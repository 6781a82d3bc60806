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

// killSurvivors kills processes until none remains, in at most a hundred rounds: a faster chain of new processes
// escapes.
func killSurvivors(token string) {
	for range 100 {
		found := Survivors(token)
		if len(found) == 0 {
			return
		}
		for _, s := range found {
			_ = syscall.Kill(s.Pid, syscall.SIGKILL) // fails if the process has ended
		}
	}
}

func getsid() int {
	id, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0) // cannot fail for the calling process
	return int(id)
}
