package fake

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Survivors lists the live processes that have token as one of their arguments. The path of a fake is a token that all
// its processes carry, whatever session, parent or environment they have; any other argument that only one test uses
// will do as well. A process that has ended but was not waited for is no survivor. Without /proc there is no answer
// and the list is empty.
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
			continue // gone since the list was read
		}
		args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		if slices.Contains(args, token) {
			found = append(found, Survivor{pid, args})
		}
	}
	return found
}

// killSurvivors kills until none is left, a hundred times at most: processes that start children faster get away.
func killSurvivors(token string) {
	for range 100 {
		found := Survivors(token)
		if len(found) == 0 {
			return
		}
		for _, s := range found {
			_ = syscall.Kill(s.Pid, syscall.SIGKILL) // gone already is fine
		}
	}
}

func getsid() int {
	id, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0) // cannot fail for the calling process
	return int(id)
}
