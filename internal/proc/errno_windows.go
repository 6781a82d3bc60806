package proc

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// What the errors of a start mean, see Kind.
var (
	missingErrnos = []syscall.Errno{windows.ERROR_INVALID_NAME, windows.ERROR_DIRECTORY}
	formatErrnos  = []syscall.Errno{windows.ERROR_BAD_EXE_FORMAT}
	sizeErrnos    = []syscall.Errno{windows.ERROR_FILENAME_EXCED_RANGE}
	busyErrnos    = []syscall.Errno{
		windows.ERROR_NOT_ENOUGH_MEMORY, windows.ERROR_NO_SYSTEM_RESOURCES, windows.ERROR_COMMITMENT_LIMIT,
		windows.ERROR_SHARING_VIOLATION, windows.ERROR_TOO_MANY_OPEN_FILES,
	}
)

// checkEnter has nothing to check: there is no right to enter a directory here.
func checkEnter(string) error { return nil }

// checkSystem refuses batch files.
func checkSystem(c Command) error {
	if isBatch(c.Path) {
		return &SpawnError{Batch, c.Path, errors.New("batch files cannot be given arguments safely; name the program they start")}
	}
	return nil
}
