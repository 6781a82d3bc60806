package proc

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// The system errors for each Kind.
var (
	missingErrnos = []syscall.Errno{windows.ERROR_INVALID_NAME, windows.ERROR_DIRECTORY}
	formatErrnos  = []syscall.Errno{windows.ERROR_BAD_EXE_FORMAT}
	sizeErrnos    = []syscall.Errno{windows.ERROR_FILENAME_EXCED_RANGE}
	busyErrnos    = []syscall.Errno{
		windows.ERROR_NOT_ENOUGH_MEMORY, windows.ERROR_NO_SYSTEM_RESOURCES, windows.ERROR_COMMITMENT_LIMIT,
		windows.ERROR_SHARING_VIOLATION, windows.ERROR_TOO_MANY_OPEN_FILES, windows.ERROR_INTERNAL_ERROR,
	}
)

// checkEnter returns nil, because Windows has no permission to enter a directory.
func checkEnter(string) error { return nil }
