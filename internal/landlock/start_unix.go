//go:build unix && !(linux && (amd64 || arm64))

package landlock

import (
	"os"

	"golang.org/x/sys/unix"
)

// Start returns an error: this system cannot confine programs.
func Start(string, []string, *os.ProcAttr, []Rule, *unix.Rlimit) (*os.Process, error) {
	return nil, &RefusedError{errNone}
}
