//go:build !linux

package proc

import (
	"os"
	"strconv"
	"sync"
)

// ShimMain returns false: on this system, Command.Shim has no effect.
func ShimMain() (works bool) { return false }

// SweepOrphans does nothing on this system, because it needs /proc to find the processes of dead hosts.
func SweepOrphans() (int, error) { return 0, nil }

// hostID identifies this process. Nothing reads it on this system, where the environment of other processes is
// hidden.
var hostID = sync.OnceValue(func() string { return strconv.Itoa(os.Getpid()) })
